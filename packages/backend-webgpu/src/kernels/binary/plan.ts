import type { ResolvedBinary } from '@concord/backend-core/implement';
import type { Recorder, StorageBuffer } from '../recorder.ts';

export function planBinary(_call: ResolvedBinary<StorageBuffer>, _recorder: Recorder): void {
  throw new Error('not here yet');
}

import type { ResolvedUnary } from '@concord/backend-core/implement';
import type { Recorder, StorageBuffer } from '../recorder.ts';

export function planUnary(_call: ResolvedUnary<StorageBuffer>, _recorder: Recorder): void {
  throw new Error('not here yet');
}

import type { ResolvedReduce } from '@concord/backend-core/implement';
import type { Recorder, StorageBuffer } from '../recorder.ts';

export function planReduce(_call: ResolvedReduce<StorageBuffer>, _recorder: Recorder): void {
  throw new Error('not here yet');
}

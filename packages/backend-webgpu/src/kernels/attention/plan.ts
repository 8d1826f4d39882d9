import type { ResolvedAttention } from '@concord/backend-core/implement';
import type { Recorder, StorageBuffer } from '../recorder.ts';

export function planAttention(_call: ResolvedAttention<StorageBuffer>, _recorder: Recorder): void {
  throw new Error('not here yet');
}

import type { ResolvedGemm, ResolvedScale } from '@concord/backend-core/implement';
import type { Recorder, StorageBuffer } from '../recorder.ts';

export function planGemm(_call: ResolvedGemm<StorageBuffer>, _recorder: Recorder): void {
  throw new Error('not here yet');
}

export function planScale(_call: ResolvedScale<StorageBuffer>, _recorder: Recorder): void {
  throw new Error('not here yet');
}

import type { ResolvedCall } from '@concord/backend-core/implement';
import { planAttention } from './attention/plan.ts';
import { planConv2d } from './conv2d/plan.ts';
import { planGemm } from './gemm/plan.ts';
import type { DeviceMemory, Recorder } from './recorder.ts';
import { planRun } from './run/plan.ts';
import { planTopK } from './top-k/plan.ts';

/**
 * Plans a checked call with its operands.
 *
 * @throws {BackendError} UNSUPPORTED when the device cannot run it, OUT_OF_MEMORY when its scratch memory is too large
 */
export function planCall({ kernel, call }: ResolvedCall<DeviceMemory>, recorder: Recorder): void {
  switch (kernel) {
    case 'gemm':
      return planGemm(call, recorder);
    case 'conv2dForward':
      return planConv2d(call, recorder);
    case 'attention':
      return planAttention(call, recorder);
    case 'topK':
      return planTopK(call, recorder);
    case 'run':
      return planRun({ geometry: call.geometry, spans: [...call.inputs, ...call.outputs] }, recorder);
  }
}

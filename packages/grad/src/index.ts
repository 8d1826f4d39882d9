/**
 * Gradients of functions of tensors and of kernels, on every backend.
 *
 * @packageDocumentation
 */
export {
  checkpoint,
  customVjp,
  grad,
  stopGradient,
  type ValueAndGradient,
  valueAndGrad,
  type Vjp,
  vjp,
} from './grad.ts';
export type { VjpOutput, VjpPart } from './kernel/parts.ts';
export {
  adam,
  type AdamOptions,
  adamW,
  lion,
  type LionOptions,
  type Optimizer,
  type Rate,
  sgd,
  type SgdOptions,
} from './optimizers.ts';
export { clipByNorm, warmupCosine, warmupLinear, type WarmupOptions } from './schedules.ts';
export { type VjpKernel, vjpKernel, type VjpOptions } from './kernel/vjp-kernel.ts';

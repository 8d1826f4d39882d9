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
export { type VjpKernel, vjpKernel, type VjpOptions } from './kernel/vjp-kernel.ts';

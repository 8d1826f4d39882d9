/**
 * Reports the launches of functions of tensors, for code such as the tape of `@concord/grad`: not for applications, and
 * not subject to versions.
 *
 * @packageDocumentation
 */
export { made } from './tensor/allocate.ts';
export { Kernels } from './compute/kernels.ts';
export { copyElements, type Place, type View } from './compute/copy.ts';
export { launchKernel } from './compute/launches.ts';
export { fillWith } from './create/full.ts';
export { type KernelCall, type Launched, listen, type Listener, listeners, unheard } from './tensor/listeners.ts';
export { checkBackend, checkNumbers, checkOptions, type OptionKind, type OptionKinds } from './tensor/arguments.ts';
export { denseLayout, type SharedLayout, sharedLayout } from './tensor/layout.ts';
export { broadcastShapes, denseStrides, isDense } from './tensor/shape.ts';
export { Storage } from './tensor/storage.ts';
export { standIn } from './weights/stand-in.ts';

import { UNARY_OPS, type UnaryOp } from '@concord/backend-core';
import type { ResolvedUnary } from '../built-in.ts';
import { planElementwise, variantFor } from '../elementwise.ts';
import { elementwiseKernel, type ElementwiseVariant } from '../elementwise.spv.ts';
import { type Kernel, variants } from '../kernel.ts';
import type { DeviceMemory, DeviceTraits, Recorder } from '../recorder.ts';
import { UNARY_FUNCTIONS } from './functions.spv.ts';

const unaryKernel = variants(({ op, variant }: { readonly op: UnaryOp; readonly variant: ElementwiseVariant }) =>
  elementwiseKernel({ name: `unary/${op}`, variant, inputs: ['x'], element: UNARY_FUNCTIONS[op] }),
);

/** `output[i] = op(input[i])`. */
export function planUnary({ op, input, output, n }: ResolvedUnary<DeviceMemory>, recorder: Recorder): void {
  const kernel = (variant: ElementwiseVariant): Kernel => unaryKernel({ op, variant });
  planElementwise({ name: `unary/${op}`, kernel, operands: { x: input, output }, n }, recorder);
}

/** Every kernel of the family that such a device runs. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  return UNARY_OPS.map((op) => unaryKernel({ op, variant: variantFor(traits) }));
}

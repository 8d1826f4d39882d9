import { BINARY_OPS, type BinaryOp } from '@concord/backend-core';
import type { ResolvedBinary } from '../built-in.ts';
import { planElementwise, variantFor } from '../elementwise.ts';
import { elementwiseKernel, type ElementwiseVariant } from '../elementwise.spv.ts';
import { type Kernel, variants } from '../kernel.ts';
import type { DeviceMemory, DeviceTraits, Recorder } from '../recorder.ts';
import { BINARY_FUNCTIONS } from './functions.spv.ts';

const binaryKernel = variants(({ op, variant }: { readonly op: BinaryOp; readonly variant: ElementwiseVariant }) =>
  elementwiseKernel({
    name: `binary/${op}`,
    variant,
    inputs: ['a', 'b'],
    element: BINARY_FUNCTIONS[op],
    // It finds what a product rounds off, which is nothing where product and difference become one instruction.
    contraction: op === 'pow' ? 'off' : undefined,
  }),
);

/** `output[i] = op(a[i], b[i])`. */
export function planBinary({ op, a, b, output, n }: ResolvedBinary<DeviceMemory>, recorder: Recorder): void {
  const kernel = (variant: ElementwiseVariant): Kernel => binaryKernel({ op, variant });
  planElementwise({ name: `binary/${op}`, kernel, operands: { a, b, output }, n }, recorder);
}

/** Every kernel of the family that such a device runs. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  return BINARY_OPS.map((op) => binaryKernel({ op, variant: variantFor(traits) }));
}

import { BINARY_OPS, type BinaryOp } from '@concord/backend-core';
import type { ResolvedBinary } from '../built-in.ts';
import { allVariants, planElementwise } from '../elementwise.ts';
import { elementwiseKernel, type ElementwiseVariant } from '../elementwise.wgsl.ts';
import { type Kernel, variants } from '../kernel.ts';
import type { DeviceTraits, Recorder, StorageBuffer } from '../recorder.ts';
import { BINARY_FUNCTIONS } from './functions.wgsl.ts';

const INPUTS = ['a', 'b'];

const binaryKernel = variants(({ op, ...variant }: ElementwiseVariant & { readonly op: BinaryOp }) =>
  elementwiseKernel({ ...variant, name: `binary/${op}`, inputs: INPUTS, element: BINARY_FUNCTIONS[op] }),
);

/** `output[i] = op(a[i], b[i])`. */
export function planBinary({ op, a, b, output, n }: ResolvedBinary<StorageBuffer>, recorder: Recorder): void {
  const kernel = (variant: ElementwiseVariant): Kernel => binaryKernel({ op, ...variant });
  planElementwise(
    { name: `binary/${op}`, element: BINARY_FUNCTIONS[op], kernel, inputs: { a, b }, output, n },
    recorder,
  );
}

/** Every kernel of the family, the same for all devices. */
export function allKernels(_traits: DeviceTraits): readonly Kernel[] {
  return BINARY_OPS.flatMap((op) => allVariants(INPUTS).map((variant) => binaryKernel({ op, ...variant })));
}

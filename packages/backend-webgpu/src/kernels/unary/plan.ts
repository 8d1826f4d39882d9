import { UNARY_OPS, type UnaryOp } from '@concord/backend-core';
import type { ResolvedUnary } from '../built-in.ts';
import { allVariants, planElementwise } from '../elementwise.ts';
import { elementwiseKernel, type ElementwiseVariant } from '../elementwise.wgsl.ts';
import { type Kernel, variants } from '../kernel.ts';
import type { DeviceTraits, Recorder, StorageBuffer } from '../recorder.ts';
import { UNARY_FUNCTIONS } from './functions.wgsl.ts';

const INPUTS = ['x'];

const unaryKernel = variants(({ op, ...variant }: ElementwiseVariant & { readonly op: UnaryOp }) =>
  elementwiseKernel({ ...variant, name: `unary/${op}`, inputs: INPUTS, element: UNARY_FUNCTIONS[op] }),
);

/** `output[i] = op(input[i])`. */
export function planUnary({ op, input, output, n }: ResolvedUnary<StorageBuffer>, recorder: Recorder): void {
  const kernel = (variant: ElementwiseVariant): Kernel => unaryKernel({ op, ...variant });
  planElementwise(
    { name: `unary/${op}`, element: UNARY_FUNCTIONS[op], kernel, inputs: { x: input }, output, n },
    recorder,
  );
}

/** Every kernel of the family, the same for all devices. */
export function allKernels(_traits: DeviceTraits): readonly Kernel[] {
  return UNARY_OPS.flatMap((op) => allVariants(INPUTS).map((variant) => unaryKernel({ op, ...variant })));
}

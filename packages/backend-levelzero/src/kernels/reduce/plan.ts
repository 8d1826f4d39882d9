import type { ResolvedReduce } from '../built-in.ts';
import { pickVariant } from '@concord/variants';
import { planElementwise, variantFor } from '../elementwise.ts';
import { elementwiseKernel, type ElementwiseVariant } from '../elementwise.spv.ts';
import { type Kernel, variants } from '../kernel.ts';
import type { DeviceMemory, DeviceTraits, Recorder, Span } from '../recorder.ts';
import { foldKernels, launchPass } from './launch.ts';
import { variantsFor } from './variant.ts';

export { VARIANT_IDS } from './variant.ts';

type Call = ResolvedReduce<DeviceMemory>;

/** What an empty axis gives. */
const EMPTY: Readonly<Record<Call['op'], number>> = { sum: 0, max: -Infinity, min: Infinity, mean: Number.NaN };

const emptyKernel = variants(({ variant }: { readonly variant: ElementwiseVariant }) =>
  elementwiseKernel({
    name: 'reduce/empty',
    variant,
    inputs: [],
    scalars: ['value'],
    element: (_, value) => value,
  }),
);

/**
 * `output[o, i] = op over a of input[o, a, i]`, in passes: each reduces the axis to the results of its parts, until one
 * is left. No result depends on more than 1,024 additions one after the other, or 280 in each of several passes, of
 * which there are at most four, for 2^32 elements: so the bound of docs/numerics.md holds.
 */
export function planReduce(call: Call, recorder: Recorder): void {
  const { op, outer, inner, axisLength, input, output } = call;
  if (input === undefined || axisLength === 0) {
    const kernel = (variant: ElementwiseVariant): Kernel => emptyKernel({ variant });
    planElementwise(
      { name: 'reduce/empty', kernel, operands: { output, value: EMPTY[op] }, n: outer * inner },
      recorder,
    );
    return;
  }
  const fold = op === 'mean' ? 'sum' : op;
  // The mean of n elements: scaled down by a power of two so that their sum stays finite, then divided by n over it.
  const whole = op === 'mean' ? 2 ** Math.ceil(Math.log2(axisLength)) : 1;
  const divisor = op === 'mean' ? axisLength / whole : 1;
  let src: Span = input;
  let length = axisLength;
  let scale = 1 / whole;
  do {
    const extents = { outer, length, inner };
    const variant = pickVariant(recorder, variantsFor(extents, recorder.traits));
    const parts = Math.ceil(length / variant.chunk);
    const isLast = parts === 1;
    const dst = isLast ? output : recorder.scratch(outer * parts * inner * 4);
    launchPass({ fold, variant, scale, divisor: isLast ? divisor : 1 }, extents, src, dst, recorder);
    src = dst;
    length = parts;
    scale = 1;
  } while (length > 1);
}

/** Every kernel of the family that such a device runs. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  return [...foldKernels(traits), emptyKernel({ variant: variantFor(traits) })];
}

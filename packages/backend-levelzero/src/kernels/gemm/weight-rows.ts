import { WEIGHT_BITS } from '@concord/backend-core';
import type { CheckedBlocks, CheckedQuant } from '@concord/backend-core/implement';
import { blockShift, formsBeside, unsignedBias, type WeightForm, weightFormOf, type Weights } from '@concord/variants';
import { type DeviceMemory, type DeviceTraits, lanesToAskFor } from '../recorder.ts';
import { gridOf } from '../work.ts';
import { FORMATS, type ProductTable } from './table.ts';
import type { Product } from './product.ts';
import { rowsOf, UNIT, weightRows } from './weight-rows.spv.ts';

const ID = 'gemm/weight-rows';
/** Lines of A for which B is read again for each four rather than written decoded. */
const MOST_LINES = 8;
/** What the kernels take: no zeros that are floats. */
const isTaken = ({ zeros }: WeightForm): boolean => zeros !== 'floats';

const teamOn = (traits: DeviceTraits): { readonly team: 1 | 64; readonly lanes: 16 | undefined } =>
  traits.isCpuLike ? { team: 1, lanes: undefined } : { team: 64, lanes: lanesToAskFor(traits) };

/** log2 of the elements of a block, if there is one that is a number of units. */
function shiftOf(quant: CheckedQuant | undefined, k: number): number | undefined {
  const units = blockShift(quant?.block ?? k, k, UNIT);
  return units === undefined ? undefined : units + Math.log2(UNIT);
}

/** Returns whether the kernel takes a product: few lines, rows of B at whole words and of whole units. */
export function isOfWeightRows({ m, k, batchCount, transA, transB, weights }: Product, traits: DeviceTraits): boolean {
  if (weights === undefined || transA || !transB || m > MOST_LINES || k % UNIT !== 0 || k > 2 ** 31) return false;
  if (batchCount > traits.maxGroups[2] || traits.preferences?.excluded?.has(ID) === true) return false;
  const { dtype, span, ld, stride, quant } = weights;
  const inByte = 8 / WEIGHT_BITS[dtype];
  const places = quant === undefined ? [] : [span.byteOffset, ld / inByte, stride / inByte];
  const isWhole = places.every((bytes) => bytes % 4 === 0) && shiftOf(quant, k) !== undefined;
  return isWhole && isTaken(weightFormOf(dtype, quant));
}

/** Products of a few lines and a B of a type of its own, which is decoded in registers. */
export const weightRowsTable: ProductTable = {
  ids: [ID],
  kernelsFor: (traits) =>
    FORMATS.flatMap(({ input, output }) =>
      formsBeside(input)
        .filter(isTaken)
        .flatMap((form) =>
          ([1, 4] as const).map((lines) => weightRows({ ...form, input, output, lines, ...teamOn(traits) })),
        ),
    ),
  candidates: (product, traits) => {
    if (!isOfWeightRows(product, traits)) return undefined;
    const variant = { id: ID, splits: 1 };
    return { variants: [variant], preferred: variant };
  },
  launch: ({ product }, variant, recorder) => {
    const { m, n, k, batchCount, a, c, alpha, beta } = product;
    const weights = product.weights as Weights<DeviceMemory>;
    const { dtype, quant, blocks } = weights;
    const shifts = blocks.zeros ?? blocks.offsets;
    const form = weightFormOf(dtype, quant);
    const team = teamOn(recorder.traits);
    const kernel = weightRows({ ...form, input: a.dtype, output: c.dtype, lines: m === 1 ? 1 : 4, ...team });
    const inElement = WEIGHT_BITS[dtype] === 4 ? UNIT : 1;
    const strides = (kind: string, blocks: CheckedBlocks | undefined): Record<string, number> => {
      const [batch, row, block] = blocks?.strides ?? [0, 0, 0];
      return { [`${kind}_batch`]: batch, [`${kind}_row`]: row, [`${kind}_block`]: block };
    };
    const flip = unsignedBias(dtype);
    recorder.launch({
      kernel,
      args: {
        ...{ a: a.span, b: weights.span, c: c.span, n, k, lines: m, alpha, beta },
        ...{ a_ld: a.ld, a_stride: a.stride, b_ld: weights.ld / inElement, b_stride: weights.stride / inElement },
        ...{ c_ld: c.ld, c_stride: c.stride },
        ...(quant === undefined || blocks.scales === undefined
          ? {}
          : {
              ...{ scales: blocks.scales, block_shift: shiftOf(quant, k) as number, flip, zero: quant.zero + flip },
              ...(shifts === undefined ? {} : { zeros: shifts }),
              ...strides('scale', quant.scales),
              ...strides('zero', quant.zeros ?? quant.offsets),
            }),
      },
      groups: gridOf(Math.ceil(n / rowsOf(team)), recorder.traits, batchCount),
      variant: variant.id,
    });
  },
};

import { shapeOf } from '@concord/variants';
import { direct, DIRECT_LANES, type DirectParams } from './direct.wgsl.ts';
import { type Conv2dTable, FEW_FILTERS } from './table.ts';

/** The outputs that an invocation computes. */
type Block = Pick<DirectParams, 'filters' | 'columns'>;

/** Blocks for GPUs and for software devices. */
const GPU_BLOCKS: readonly Block[] = [
  { filters: 1, columns: 4 },
  { filters: 4, columns: 4 },
];
const SOFTWARE_BLOCKS: readonly Block[] = [
  { filters: 1, columns: 1 },
  { filters: 1, columns: 8 },
  { filters: 8, columns: 1 },
  { filters: 8, columns: 8 },
];

const BLOCK_OF: ReadonlyMap<string, Block> = new Map(
  [...GPU_BLOCKS, ...SOFTWARE_BLOCKS].map((block) => [idOf(block), block]),
);

/** Convolution without workgroup memory: for software devices, and for few filters. */
export const directTable: Conv2dTable = {
  ids: [...BLOCK_OF.keys()],
  kernelsFor: ({ isSoftware }) =>
    (isSoftware ? SOFTWARE_BLOCKS : GPU_BLOCKS).flatMap((block) =>
      [false, true].map((slides) => direct({ ...block, slides })),
    ),
  candidates: ({ filters, outputWidth }, { isSoftware }) => {
    const block = isSoftware
      ? { filters: filters === 1 ? 1 : 8, columns: outputWidth === 1 ? 1 : 8 }
      : { filters: filters === 1 ? 1 : 4, columns: 4 };
    const variant = { id: idOf(block), splits: 1 };
    return { variants: [variant], preferred: variant, rank: filters <= FEW_FILTERS ? Infinity : 0 };
  },
  launch: ({ shape, input, weights, output, uniforms }, variant, recorder) => {
    const { groups, filters, images, outputRows, outputWidth, filterWidth, strideW, dilationW } = shape;
    const block = shapeOf(BLOCK_OF, variant);
    const slides = block.columns > 1 && filterWidth > 1 && strideW === dilationW;
    const strips = images * outputRows * Math.ceil(outputWidth / block.columns);
    recorder.launch({
      kernel: direct({ ...block, slides }),
      storage: { input, weights, output },
      uniforms,
      groups: groups * Math.ceil(filters / block.filters) * Math.ceil(strips / DIRECT_LANES),
      variant: variant.id,
    });
  },
};

function idOf({ filters, columns }: Block): string {
  return `conv2d/direct-${filters}x${columns}`;
}

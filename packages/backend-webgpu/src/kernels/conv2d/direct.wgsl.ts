import { shapeOf } from '@concord/variants';
import { bindEpilogue } from '../epilogue/fused-epilogue.ts';
import { productKernel } from '../gemm/product-kernel.ts';
import { mainOf } from '../kernel.ts';
import { repeat } from '../wgsl/snippets.ts';
import { type ElementStore, elementStore, STORE, windowFunctions, windowUniforms } from './window.wgsl.ts';
import { type Conv2dTable, FEW_FILTERS } from './windows.ts';

/** The parameters that distinguish the `direct` kernels. */
interface DirectParams {
  /** Filters that an invocation computes. */
  readonly filters: number;
  /** Neighbouring outputs of a row that it computes for each. */
  readonly columns: number;
  /** True if the stride along a row equals the dilation, so that neighbours share inputs. */
  readonly slides: boolean;
}

/** Invocations in a workgroup. */
const DIRECT_LANES = 32;

/**
 * Convolution without workgroup memory: output[k, p, q] for a block of filters and a strip of neighbouring q per
 * invocation, all in registers; each weight that is loaded meets the whole strip, each input the whole block.
 *
 * Input is NCHW, filter KCRS, output NKPQ, as far as the window reaches. Workgroups are numbered by group, block of
 * filters in it, and block of {@link DIRECT_LANES} strips. Where stride and dilation are equal along a row, the next weight
 * of the filter's row needs the strip of inputs moved on by one: a register window slides along and loads one input
 * per weight instead of `columns`.
 *
 * For software devices, where loads and barriers cost more than arithmetic, and for few filters per group (depthwise
 * convolution: one), where a tile of a matrix product would be mostly empty.
 */
const direct = productKernel<DirectParams>('conv2d/direct', ({ filters, columns, slides }, epilogue) => {
  const loadStrip = (count: number, target: (index: number) => string): string =>
    repeat(
      count,
      (j) => `        ${target(j)} = load(at, is_inside & (x < u.width));
        x += u.stride_w;
        at += u.stride_w;`,
    );
  const reload = `
        var x = corner.x + s * u.dilation_w;
        var at = row_at + s * u.dilation_w;
${loadStrip(columns, (j) => `let value${j}`)}`;
  const slide = `
${repeat(columns - 1, (j) => `        value${j} = value${j + 1};`)}
${loadStrip(1, () => `value${columns - 1}`)}`;

  return {
    name: `conv2d/direct ${filters}x${columns}${slides ? ' sliding' : ''}`,
    storage: {
      input: { access: 'read', type: 'array<f32>' },
      weights: { access: 'read', type: 'array<f32>' },
      output: { access: 'read_write', type: 'array<f32>' },
    },
    uniforms: windowUniforms,
    code: /* wgsl */ `
${windowFunctions}
${STORE}

${mainOf(DIRECT_LANES)}
  let number = group_index(id, grid);
  if (number >= u.group_count) { return; }
  let strips_per_row = (u.output_width + ${columns - 1}u) / ${columns}u;
  let strips = u.rows * strips_per_row;
  let strip_blocks = (strips + ${DIRECT_LANES - 1}u) / ${DIRECT_LANES}u;
  let filter_blocks = (u.filters + ${filters - 1}u) / ${filters}u;

  let strip = number % strip_blocks * ${DIRECT_LANES}u + lane;
  if (strip >= strips) { return; }
  let column = strip % strips_per_row * ${columns}u;
  let row = strip / strips_per_row;
  let corner = place_at(row, column);

  let group = number / strip_blocks / filter_blocks;
  let first_filter = number / strip_blocks % filter_blocks * ${filters}u;
  let first_weight = u.filter_at + group * u.filters * u.filter_stride;
  // What is computed beyond the last filter is not stored.
${repeat(filters, (i) => `  let weight${i} = first_weight + min(first_filter + ${i}u, u.filters - 1u) * u.filter_stride;`)}
${repeat(filters, (i) => repeat(columns, (j) => `  var sum${i}_${j} = 0.0;`))}

  var tap = 0u;
  for (var c = 0u; c < u.channels; c++) {
    let channel_at = corner.input + group * u.input_group + c * u.height * u.width;
    for (var r = 0u; r < u.filter_height; r++) {
      let down = r * u.dilation_h;
      let is_inside = corner.y + down < u.height;
      let row_at = channel_at + down * u.width;
${
  slides
    ? `      var x = corner.x;
      var at = row_at;
      var value0 = 0.0;
${loadStrip(columns - 1, (j) => `var value${j + 1}`)}`
    : ''
}
      for (var s = 0u; s < u.filter_width; s++) {${slides ? slide : reload}
${repeat(
  filters,
  (i) => `        let w${i} = weights[weight${i} + tap];
${repeat(columns, (j) => `        sum${i}_${j} += w${i} * value${j};`)}`,
)}
        tap++;
      }
    }
  }

${repeat(filters, (i) => {
  const filter = `filter_index${i}`;
  const stores = Array.from({ length: columns }, (_, j) => {
    const place = ['image', filter, 'output_row', `min(column + ${j}u, u.output_width - 1u)`];
    return elementStore(`sum${i}_${j}`, place, epilogue, `e${j}_`);
  });
  return `  if (first_filter + ${i}u < u.filters) {
    let ${filter} = group * u.filters + first_filter + ${i}u;
    let image = row / u.output_height;
    let output_row = row % u.output_height;
    let at = corner.output + ${filter} * u.output_plane;
${stores.map(({ loads }) => loads).join('\n')}
${repeat(columns, (j) => (stores[j] as ElementStore).store(`at + ${j}u`, [`column + ${j}u < u.output_width`]))}
  }`;
})}
}`,
  };
});

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
  launch: ({ shape, input, weights, output, uniforms, epilogue }, variant, recorder) => {
    const { groups, filters, images, outputRows, outputWidth, filterWidth, strideW, dilationW } = shape;
    const block = shapeOf(BLOCK_OF, variant);
    const slides = block.columns > 1 && filterWidth > 1 && strideW === dilationW;
    const strips = images * outputRows * Math.ceil(outputWidth / block.columns);
    const bound = epilogue && bindEpilogue(epilogue, 1, recorder.traits.storageAlignment);
    recorder.launch({
      kernel: direct({ ...block, slides }, bound?.spec),
      storage: { input, weights, output, ...bound?.storage },
      uniforms: { ...uniforms, ...bound?.uniforms },
      groups: groups * Math.ceil(filters / block.filters) * Math.ceil(strips / DIRECT_LANES),
      variant: variant.id,
    });
  },
};

function idOf({ filters, columns }: Block): string {
  return `conv2d/direct-${filters}x${columns}`;
}

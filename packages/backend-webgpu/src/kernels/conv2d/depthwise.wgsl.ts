import { ofType, shapeOf } from '@concord/variants';
import { bindEpilogue } from '../epilogue/fused-epilogue.ts';
import { productKernel } from '../gemm/product-kernel.ts';
import { mainOf } from '../kernel.ts';
import { repeat } from '../wgsl/snippets.ts';
import { type ElementStore, elementStore, placeFunctions, STORE, windowUniforms } from './window.wgsl.ts';
import type { Conv2dShape, Conv2dTable, Variant } from './windows.ts';

/** The parameters that distinguish the `depthwise` kernels. */
interface DepthwiseParams {
  /** Neighbouring outputs of a column that an invocation computes. */
  readonly rows: number;
  /** Taps of a filter along either axis. */
  readonly extent: number;
  /** Stride along both axes. */
  readonly stride: number;
}

/** Invocations in a workgroup. */
const LANES = 128;

/**
 * Convolution of each channel with a filter of its own: output[c, p, q] for a strip of neighbouring p per invocation, all in
 * registers, taps unrolled. Neighbouring invocations have neighbouring q, so that what they read and write together lies
 * together. Invocations are numbered by image, channel, strip and q, the last running fastest.
 *
 * Reads have no conditions, which would keep them from being under way together: outside of the image the plane's first
 * element is read, and replaced by 0.
 */
const depthwise = productKernel<DepthwiseParams>('conv2d/depthwise', ({ rows, extent, stride }, epilogue) => {
  const lines = stride * (rows - 1) + extent;
  const stores = Array.from({ length: rows }, (_, p) => {
    const place = ['image', 'channel', `min(first_row + ${p}u, u.image_rows - 1u)`, 'column'];
    return elementStore(`sum${p}`, place, epilogue, `e${p}_`);
  });
  return {
    name: `conv2d/depthwise ${rows} ${extent}x${extent} stride ${stride}`,
    storage: {
      input: { access: 'read', type: 'array<f32>' },
      weights: { access: 'read', type: 'array<f32>' },
      output: { access: 'read_write', type: 'array<f32>' },
    },
    uniforms: { ...windowUniforms, ...ofType('u32', 'image_rows strips units') },
    code: /* wgsl */ `
${placeFunctions}
${STORE}

fn value_at(plane: u32, at: u32, is_inside: bool) -> f32 {
  return select(0.0, input[select(plane, at, is_inside)], is_inside);
}

${mainOf(LANES)}
  let number = group_index(id, grid);
  let unit = number * ${LANES}u + lane;
  if (number >= u.group_count || unit >= u.units) { return; }
  let column = unit % u.output_width;
  let strip = unit / u.output_width;
  let first_row = strip % u.strips * ${rows}u;
  let channel = strip / u.strips % u.groups;
  let image = strip / u.strips / u.groups;
  let corner = place_at(image * u.image_rows + first_row, column);
  let plane = u.input_at + image * u.input_image + channel * u.input_group;
  let first = corner.input + channel * u.input_group;
  let own = u.filter_at + channel * u.filter_stride;
${repeat(extent, (s) => `  let is_inside${s} = corner.x + ${s}u < u.width;`)}
${repeat(extent ** 2, (tap) => `  let w${tap} = weights[own + ${tap}u];`)}
${repeat(rows, (p) => `  var sum${p} = 0.0;`)}
${repeat(lines, (line) => {
  const taps = repeat(extent, (s) =>
    [
      `    let value${s} = value_at(plane, at + ${s}u, is_line & is_inside${s});`,
      repeat(rows, (p) => {
        const r = line - p * stride;
        return r < 0 || r >= extent ? '' : `    sum${p} += w${r * extent + s} * value${s};`;
      }),
    ].join('\n'),
  );
  return `  {
    let is_line = corner.y + ${line}u < u.height;
    let at = first + ${line}u * u.width;
${taps}
  }`;
})}

  let at = corner.output + channel * u.output_plane;
${stores.map(({ loads }) => loads).join('\n')}
${repeat(rows, (p) => (stores[p] as ElementStore).store(`at + ${p}u * u.output_width`, [`first_row + ${p}u < u.image_rows`]))}
}`,
  };
});

const ROWS_OF: ReadonlyMap<string, number> = new Map([4, 8].map((rows) => [`conv2d/depthwise-${rows}`, rows]));
/** Rows of an output from which eight at a time are faster than four, where the stride is 1. */
const LONG_PLANE = 14;
/** Extents and strides for which there are kernels. */
const EXTENTS = [3, 5];
const STRIDES = [1, 2];

/** Convolution of each channel by itself: for GPUs. */
export const depthwiseTable: Conv2dTable = {
  ids: [...ROWS_OF.keys()],
  kernelsFor: ({ isSoftware }) =>
    (isSoftware ? [] : [...ROWS_OF.values()]).flatMap((rows) =>
      EXTENTS.flatMap((extent) => STRIDES.map((stride) => depthwise({ rows, extent, stride }))),
    ),
  candidates: (shape, { isSoftware }) => {
    if (isSoftware || !isDepthwise(shape)) return undefined;
    const [four, eight] = [...ROWS_OF.keys()].map((id) => ({ id, splits: 1 })) as [Variant, Variant];
    const isLong = shape.strideH === 1 && shape.outputRows >= LONG_PLANE;
    return { variants: [four, eight], preferred: isLong ? eight : four, rank: Infinity };
  },
  launch: ({ shape, input, weights, output, uniforms, epilogue }, variant, recorder) => {
    const { groups, images, outputRows, outputWidth, filterHeight, strideW } = shape;
    const rows = shapeOf(ROWS_OF, variant);
    const strips = Math.ceil(outputRows / rows);
    const units = images * groups * strips * outputWidth;
    const bound = epilogue && bindEpilogue(epilogue, 1, recorder.traits.storageAlignment);
    recorder.launch({
      kernel: depthwise({ rows, extent: filterHeight, stride: strideW }, bound?.spec),
      storage: { input, weights, output, ...bound?.storage },
      uniforms: { ...uniforms, image_rows: outputRows, strips, units, ...bound?.uniforms },
      groups: Math.ceil(units / LANES),
      variant: variant.id,
    });
  },
};

function isDepthwise({ filters, channels, filterHeight, filterWidth, ...shape }: Conv2dShape): boolean {
  const { strideH, strideW, dilationH, dilationW } = shape;
  const isSquare = filterHeight === filterWidth && strideH === strideW && dilationH * dilationW === 1;
  return filters * channels === 1 && isSquare && EXTENTS.includes(filterHeight) && STRIDES.includes(strideH);
}

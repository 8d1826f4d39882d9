import { ofType } from '@concord/variants';
import { epilogueCode } from '../epilogue/epilogue-code.ts';
import type { UniformType } from '../kernel.ts';
import type { RunSpec } from '../run/run-spec.ts';
import { storeC } from '../wgsl/snippets.ts';

/**
 * The part of a convolution that one launch computes, as kernels see it: `groups` whole groups, or some of the filters
 * or of the channels of one, and `rows` output rows. Rows are numbered through the images, from row `first_row` of the
 * first image on. Counts and strides are in elements.
 *
 * Coordinates in an image are computed modulo 2^32. The plan sees to it that none that lies in the padding, however wide,
 * is congruent to one inside, so that one comparison tells them apart: `y < u.height`.
 */
export const windowUniforms: Readonly<Record<string, UniformType>> = {
  groups: 'u32',
  /** Filters of a group. */
  filters: 'u32',
  /** Channels of a group. */
  ...ofType('u32', 'channels height width filter_height filter_width output_height output_width first_row'),
  ...ofType('u32', 'rows stride_h stride_w pad_h pad_w dilation_h dilation_w'),
  /** Starts of the operands in their bindings. */
  ...ofType('u32', 'input_at filter_at output_at'),
  /** Distance from an image, and from a group of channels, to the next. */
  ...ofType('u32', 'input_image input_group'),
  /** Distance from a filter to the next. */
  filter_stride: 'u32',
  /** Distance from the output of an image to that of the next, and from a plane of it to the next. */
  ...ofType('u32', 'output_image output_plane'),
  /** 1: add to what the output holds, the sum over the channels before. */
  accumulate: 'u32',
};

/** Functions of kernels with {@link windowUniforms}. */
export const placeFunctions: string = /* wgsl */ `
// Where the filter stands for one entry of an output plane.
struct Place {
  // Coordinates of its corner in the image.
  y: u32,
  x: u32,
  // The element under the corner, in the first channel of the first group.
  input: u32,
  // The element of the output, for the first filter.
  output: u32,
}

fn place_at(row: u32, column: u32) -> Place {
  let number = u.first_row + row;
  let image = number / u.output_height;
  let output_row = number % u.output_height;
  let y = output_row * u.stride_h - u.pad_h;
  let x = column * u.stride_w - u.pad_w;
  return Place(
    y,
    x,
    u.input_at + image * u.input_image + y * u.width + x,
    u.output_at + image * u.output_image + (output_row - u.first_row) * u.output_width + column,
  );
}
`;

/** Functions of kernels with {@link windowUniforms} that read the storage variable `input`, of float32. */
export const windowFunctions: string = /* wgsl */ `${placeFunctions}
// What lies beyond the image is not read and masked: 0 * Infinity would be NaN. On an H200 the branch made a convolution 1.6 times as
// fast as a select around the read.
fn load(at: u32, is_inside: bool) -> f32 {
  if (!is_inside) { return 0.0; }
  return input[at];
}
`;

/** WGSL that stores an element of the output of a window, of float32, in the storage variable `output`. */
export interface ElementStore {
  /** Reads what the epilogue reads. */
  readonly loads: string;
  /** Stores the element, or adds it as the uniforms say, under conditions. */
  readonly store: (at: string, checks: readonly string[]) => string;
}

/**
 * How an element is stored: by {@link STORE}, or with the epilogue of a window that is whole.
 *
 * @param sum - what the kernel computed
 * @param place - coordinates in the output: image, filter, row, column
 * @param prefix - begins the names of the epilogue's values
 */
export function elementStore(
  sum: string,
  place: readonly string[],
  epilogue: RunSpec | undefined,
  prefix: string,
): ElementStore {
  if (epilogue === undefined)
    return { loads: '', store: (at, checks) => storeC({ by: 'store', at, acc: sum, checks }) };
  const coordinates = place.map((each) => `(${each})`);
  const { loads, lines, bits } = epilogueCode(epilogue, sum, coordinates, prefix);
  return {
    loads,
    store: (at, checks) => {
      const code = `${lines}\n  output[${at}] = bitcast<f32>(${bits});`;
      return checks.length === 0 ? `{\n${code}\n}` : `if (${checks.join(' && ')}) {\n${code}\n}`;
    },
  };
}

/** Declares what {@link elementStore} calls. */
export const STORE: string = /* wgsl */ `
fn store(at: u32, sum: f32) {
  if (u.accumulate == 1u) {
    output[at] += sum;
  } else {
    output[at] = sum;
  }
}
`;

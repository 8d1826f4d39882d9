import type { UniformType } from '../kernel.ts';

/**
 * The part of a convolution that one launch computes, as its kernels see it: `groups` whole groups, or some of the
 * filters or of the channels of one; and `rows` output rows, numbered through all planes of the images, from row
 * `first_row` of the first image on. All counts and strides are in elements.
 *
 * Coordinates in the input are computed modulo 2^32. The plan sees to it that no coordinate outside the image, however
 * large the padding, is congruent to one inside, so that one comparison tells them apart: `y < u.height`.
 */
export const windowUniforms: Readonly<Record<string, UniformType>> = {
  groups: 'u32',
  /** Filters of a group. */
  filters: 'u32',
  /** Channels of a group. */
  channels: 'u32',
  height: 'u32',
  width: 'u32',
  filter_height: 'u32',
  filter_width: 'u32',
  output_height: 'u32',
  output_width: 'u32',
  first_row: 'u32',
  rows: 'u32',
  stride_h: 'u32',
  stride_w: 'u32',
  pad_h: 'u32',
  pad_w: 'u32',
  dilation_h: 'u32',
  dilation_w: 'u32',
  /** Where the operands begin in their bindings. */
  input_at: 'u32',
  filter_at: 'u32',
  output_at: 'u32',
  /** From an image, and from a group of channels, to the next. */
  input_image: 'u32',
  input_group: 'u32',
  /** From a filter to the next. */
  filter_stride: 'u32',
  /** From the output of an image to that of the next, and within from a plane to the next. */
  output_image: 'u32',
  output_plane: 'u32',
  /** 1: add to what the output holds, the sum over the channels so far. */
  accumulate: 'u32',
};

/** Where the filter stands, by number of the place; functions for kernels with {@link windowUniforms}. */
export const windowFunctions = /* wgsl */ `
struct Place {
  // Coordinates of the filter's corner in the image, modulo 2^32.
  y: u32,
  x: u32,
  // The element there of the group's first channel, modulo 2^32.
  input: u32,
  // The element of the output for the window's first filter.
  output: u32,
}

fn place_at(row: u32, column: u32) -> Place {
  let number = u.first_row + row;
  let image = number / u.output_height;
  let y = number % u.output_height * u.stride_h - u.pad_h;
  let x = column * u.stride_w - u.pad_w;
  return Place(
    y,
    x,
    u.input_at + image * u.input_image + y * u.width + x,
    u.output_at + image * u.output_image + (number % u.output_height - u.first_row) * u.output_width + column,
  );
}
`;

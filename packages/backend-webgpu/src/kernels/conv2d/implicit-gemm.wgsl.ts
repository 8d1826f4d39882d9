import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { repeat } from '../wgsl/repeat.ts';
import { windowFunctions, windowUniforms } from './window.wgsl.ts';

/** What tells the implicit GEMM kernels apart. */
export interface ImplicitGemmParams {
  /** Side of the square tile of the product that a workgroup computes: filters by places. */
  readonly tile: number;
  /** Side of the square piece of it that an invocation computes, 4 or 8. */
  readonly piece: number;
  /** Taps that are held in workgroup memory at a time; at most the invocations of a workgroup. */
  readonly step: number;
}

/** Invocations in a workgroup. */
export const implicitGemmLanes = ({ tile, piece }: ImplicitGemmParams): number => (tile / piece) ** 2;

/**
 * Convolution as the matrix product filters x patches, per group: output[k, place] = sum over taps of
 * filter[k, tap] * input(place, tap), where a tap is a (channel, r, s) and a place an (image, p, q). The matrix of patches
 * (im2col) is never stored: its tiles are gathered from the input on the way to workgroup memory. The method is that of
 * Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning" (2014), section 3.
 *
 * Input is NCHW, filter KCRS, output NKPQ, as far as the window reaches. A workgroup computes a tile of the product and
 * walks along the taps in steps. In workgroup memory lie, for each tap of the step, the filters in vectors of 4
 * neighbours, and the places in vectors of 4 that are a quarter of the tile apart, so that loads and stores of
 * neighbouring invocations go to neighbouring addresses. The next step's values are loaded to registers before the
 * arithmetic of this one. What a tap means for an address is worked out once per step and tap, not per value.
 *
 * Workgroups are numbered by group, tile of places, and tile of filters, the last running fastest.
 */
export const implicitGemm: (params: ImplicitGemmParams) => Kernel = variants((params: ImplicitGemmParams) => {
  const { tile, piece, step } = params;
  const lanes = implicitGemmLanes(params);
  const side = tile / piece;
  const vectors = tile / 4;
  const vectorsPerPiece = piece / 4;
  // Of each operand, per invocation and step.
  const loads = (vectors * step) / lanes;
  const tapsPerPass = lanes / vectors;
  // One vector of padding keeps the filters of neighbouring taps in different banks when they are stored.
  const filterPitch = vectors + 1;

  const fetch = (tap: string): string => `
${repeat(loads, (i) => `    filters${i} = load_filters(first_weight, first_filter + filter_vector${i} * 4u, ${tap} + filter_tap${i});`)}
${repeat(
  loads,
  (i) => `    {
      let tap = taps[place_tap + ${i * tapsPerPass}u];
      let is_tap = ${tap} + place_tap + ${i * tapsPerPass}u < depth;
      let is_inside = vec4<bool>(is_tap) & (y + tap.y < vec4u(u.height)) & (x + tap.z < vec4u(u.width));
      let at = input_at + tap.x;
      values${i} = vec4f(
        load(at.x, is_inside.x),
        load(at.y, is_inside.y),
        load(at.z, is_inside.z),
        load(at.w, is_inside.w),
      );
    }`,
)}`;

  return defineKernel({
    name: `conv2d/implicit-gemm ${tile}x${tile}x${step}`,
    storage: {
      input: { access: 'read', type: 'array<f32>' },
      weights: { access: 'read', type: 'array<f32>' },
      output: { access: 'read_write', type: 'array<f32>' },
    },
    uniforms: windowUniforms,
    code: /* wgsl */ `
${windowFunctions}

var<workgroup> filter_tile: array<vec4f, ${step * filterPitch}>;
var<workgroup> input_tile: array<vec4f, ${step * vectors}>;
// Of each tap: the distance in elements from the corner of the filter, and the one in rows and in columns.
var<workgroup> taps: array<vec3u, ${step}>;

fn tap_at(tap: u32) -> vec3u {
  let column = tap % u.filter_width * u.dilation_w;
  let line = tap / u.filter_width;
  let row = line % u.filter_height * u.dilation_h;
  let channel = line / u.filter_height;
  return vec3u((channel * u.height + row) * u.width + column, row, column);
}

fn load_weight(first: u32, filter_index: u32, tap: u32) -> f32 {
  if (filter_index >= u.filters || tap >= u.channels * u.filter_height * u.filter_width) { return 0.0; }
  return weights[first + filter_index * u.filter_stride + tap];
}

fn load_filters(first: u32, filter_index: u32, tap: u32) -> vec4f {
  return vec4f(
    load_weight(first, filter_index, tap),
    load_weight(first, filter_index + 1u, tap),
    load_weight(first, filter_index + 2u, tap),
    load_weight(first, filter_index + 3u, tap),
  );
}

fn store_place(group: u32, filter_index: u32, place: u32, sums: array<f32, ${piece}>) {
  if (place >= u.rows * u.output_width) { return; }
  let at = place_at(place / u.output_width, place % u.output_width).output;
  for (var i = 0u; i < ${piece}u; i++) {
    let index = filter_index + i / 4u * ${side * 4}u + i % 4u;
    if (index < u.filters) { store(at + (group * u.filters + index) * u.output_plane, sums[i]); }
  }
}

@compute @workgroup_size(${lanes})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let number = group_index(id, grid);
  if (number >= u.group_count) { return; }
  let places = u.rows * u.output_width;
  let depth = u.channels * u.filter_height * u.filter_width;
  let filter_tiles = (u.filters + ${tile - 1}u) / ${tile}u;
  let place_tiles = (places + ${tile - 1}u) / ${tile}u;
  let first_filter = number % filter_tiles * ${tile}u;
  let first_place = number / filter_tiles % place_tiles * ${tile}u;
  let group = number / filter_tiles / place_tiles;
  let first_weight = u.filter_at + group * u.filters * u.filter_stride;

  // What this invocation brings to workgroup memory: neighbours along the taps for the filters, along the places for the
  // input, whose four places stay the same in all steps.
${repeat(
  loads,
  (i) => `  let filter_tap${i} = (lane + ${i * lanes}u) % ${step}u;
  let filter_vector${i} = (lane + ${i * lanes}u) / ${step}u;`,
)}
  let place_vector = lane % ${vectors}u;
  let place_tap = lane / ${vectors}u;
  var y: vec4u;
  var x: vec4u;
  var input_at: vec4u;
  for (var j = 0u; j < 4u; j++) {
    let index = min(first_place + place_vector + j * ${vectors}u, places - 1u);
    let place = place_at(index / u.output_width, index % u.output_width);
    y[j] = place.y;
    x[j] = place.x;
    input_at[j] = place.input + group * u.input_group;
  }
${repeat(loads, (i) => `  var filters${i}: vec4f;\n  var values${i}: vec4f;`)}

  let lane_row = lane / ${side}u;
  let lane_column = lane % ${side}u;
${repeat(piece, (i) => repeat(vectorsPerPiece, (j) => `  var sum${i}_${j} = vec4f();`))}

  if (lane < ${step}u) { taps[lane] = tap_at(lane); }
  workgroupBarrier();
  {${fetch('0u')}
  }
  for (var first_tap = 0u; first_tap < depth; first_tap += ${step}u) {
    let next = first_tap + ${step}u;
    // The reads of the step before are over: of the tiles, and of the taps.
    workgroupBarrier();
${repeat(
  loads,
  (i) => `    filter_tile[filter_tap${i} * ${filterPitch}u + filter_vector${i}] = filters${i};
    input_tile[(place_tap + ${i * tapsPerPass}u) * ${vectors}u + place_vector] = values${i};`,
)}
    if (lane < ${step}u) { taps[lane] = tap_at(next + lane); }
    workgroupBarrier();
    if (next < depth) {${fetch('next')}
    }
    for (var tap = 0u; tap < ${step}u; tap++) {
${repeat(vectorsPerPiece, (i) => `      let a${i} = filter_tile[tap * ${filterPitch}u + lane_row + ${i * side}u];`)}
${repeat(vectorsPerPiece, (j) => `      let b${j} = input_tile[tap * ${vectors}u + lane_column + ${j * side}u];`)}
${repeat(piece, (i) =>
  repeat(vectorsPerPiece, (j) => `      sum${i}_${j} += a${Math.floor(i / 4)}[${i % 4}] * b${j};`),
)}
    }
  }

  let filter_index = first_filter + lane_row * 4u;
  let place = first_place + lane_column;
${repeat(vectorsPerPiece, (j) =>
  repeat(4, (component) => {
    const sums = Array.from({ length: piece }, (_, i) => `sum${i}_${j}[${component}]`).join(', ');
    return `  store_place(group, filter_index, place + ${j * side + component * vectors}u, array(${sums}));`;
  }),
)}
}`,
  });
});

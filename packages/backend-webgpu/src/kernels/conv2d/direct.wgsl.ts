import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { windowFunctions, windowUniforms } from './window.wgsl.ts';

/** What tells the `direct` kernels apart. */
export interface DirectParams {
  readonly filters: number;
  readonly columns: number;
  readonly lanes: number;
  readonly slides: boolean;
}

const repeat = (n: number, line: (i: number) => string) => Array.from({length: n}, (_, i) => line(i)).join('\n');

export const direct: (params: DirectParams) => Kernel = variants(({ filters, columns, lanes, slides }: DirectParams) =>
  defineKernel({
    name: `conv2d/direct ${filters}x${columns} ${lanes} ${slides}`,
    storage: {
      input: { access: 'read', type: 'array<f32>' },
      weights: { access: 'read', type: 'array<f32>' },
      output: { access: 'read_write', type: 'array<f32>' },
    },
    uniforms: windowUniforms,
    code: /* wgsl */ `
${windowFunctions}

fn load(at: u32, inside: bool) -> f32 {
  if (!inside) { return 0.0; }
  return input[at];
}

fn store(at: u32, sum: f32) {
  output[at] = select(sum, output[at] + sum, u.accumulate == 1u);
}

@compute @workgroup_size(${lanes})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let number = group_index(id, grid);
  if (number >= u.group_count) { return; }
  let strips = (u.output_width + ${columns - 1}u) / ${columns}u;
  let items = u.rows * strips;
  let item_blocks = (items + ${lanes - 1}u) / ${lanes}u;
  let filter_blocks = (u.filters + ${filters - 1}u) / ${filters}u;
  let item = number % item_blocks * ${lanes}u + lane;
  let filter_block = number / item_blocks;
  let group = filter_block / filter_blocks;
  let first_filter = filter_block % filter_blocks * ${filters}u;
  let last = u.filters - 1u;
${repeat(filters, (f) => `  let weight${f} = u.filter_at + (group * u.filters + min(first_filter + ${f}u, last)) * u.filter_stride;`)}
  let column = item % strips * ${columns}u;
  let corner = place_at(min(item / strips, u.rows - 1u), column);
  let in = corner.input + group * u.input_group;
${repeat(filters, (f) => repeat(columns, (v) => `  var sum${f}_${v} = 0.0;`))}
  var tap = 0u;
  for (var c = 0u; c < u.channels; c++) {
    for (var r = 0u; r < u.filter_height; r++) {
      let row = r * u.dilation_h;
      let inside = corner.y + row < u.height;
      let at = in + (c * u.height + row) * u.width;
${slides ? `
      var next_x = corner.x;
      var next_at = at;
${repeat(columns - 1, (v) => `  var v${v+1} = load(next_at, inside & (next_x < u.width)); next_x += u.stride_w; next_at += u.stride_w;`)}
      var v0 = 0.0;
` : ''}
      for (var s = 0u; s < u.filter_width; s++) {
${slides ? `
        ${repeat(columns - 1, (v) => `v${v} = v${v + 1};`)}
        v${columns - 1} = load(next_at, inside & (next_x < u.width));
        next_x += u.stride_w; next_at += u.stride_w;
` : `
        var next_x = corner.x + s * u.dilation_w;
        var next_at = at + s * u.dilation_w;
${repeat(columns, (v) => `        let v${v} = load(next_at, inside & (next_x < u.width)); next_x += u.stride_w; next_at += u.stride_w;`)}
`}
${repeat(filters, (f) => `        { let w = weights[weight${f} + tap]; ${repeat(columns, (v) => `sum${f}_${v} += w * v${v};`)} }`)}
        tap++;
      }
    }
  }
  if (item >= items) { return; }
${repeat(filters, (f) => `  if (first_filter + ${f}u < u.filters) {
    let at = corner.output + (group * u.filters + first_filter + ${f}u) * u.output_plane;
${repeat(columns, (v) => `  if (column + ${v}u < u.output_width) { store(at + ${v}u, sum${f}_${v}); }`)}
  }`)}
}`,
  }),
);

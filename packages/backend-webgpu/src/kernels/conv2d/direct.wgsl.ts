import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { windowFunctions, windowUniforms } from './window.wgsl.ts';

/** What tells the `direct` kernels apart. */
export interface DirectParams {
  readonly filters: number;
  readonly columns: number;
  readonly lanes: number;
  readonly slides: boolean;
}

const range = (n: number) => Array.from({length: n}, (_, i) => i);

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
  return select(0.0, input[select(0u, at, inside)], inside);
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
${slides ? `  let strips = (u.output_width + ${columns - 1}u) / ${columns}u;
  let items = u.rows * strips;` : `  let items = (u.rows * u.output_width + ${columns - 1}u) / ${columns}u;`}
  let item_blocks = (items + ${lanes - 1}u) / ${lanes}u;
  let filter_blocks = (u.filters + ${filters - 1}u) / ${filters}u;
  let item = number % item_blocks * ${lanes}u + lane;
  let filter_block = number / item_blocks;
  let group = filter_block / filter_blocks;
  let first_filter = filter_block % filter_blocks * ${filters}u;
  let last = u.filters - 1u;
${range(filters).map((f) => `  var weight${f} = u.filter_at + (group * u.filters + min(first_filter + ${f}u, last)) * u.filter_stride;`).join('\n')}
${slides ? `  let column = item % strips * ${columns}u;
  let corner = place_at(min(item / strips, u.rows - 1u), column);
  let in = corner.input + group * u.input_group;` : range(columns).map((v) => `
  let position${v} = min(item * ${columns}u + ${v}u, u.rows * u.output_width - 1u);
  let place${v} = place_at(position${v} / u.output_width, position${v} % u.output_width);
  let in${v} = place${v}.input + group * u.input_group;`).join('\n')}
${range(filters).map((f) => range(columns/4).map((v) => `  var sum${f}_${v} = vec4f();`).join('\n')).join('\n')}
  var tap = 0u;
  for (var c = 0u; c < u.channels; c++) {
    for (var r = 0u; r < u.filter_height; r++) {
      let row = r * u.dilation_h;
${slides ? `
      let inside = corner.y + row < u.height;
      let at = in + (c * u.height + row) * u.width;
      var next_x = corner.x;
      var next_at = at;
${range(columns - 1).map((v) => `  var v${v+1} = load(next_at, inside & (next_x < u.width)); next_x += u.stride_w; next_at += u.stride_w;`).join('\n')}
      var v0 = 0.0;
` : range(columns).map((v) => `      let inside${v} = place${v}.y + row < u.height;`).join('\n')}
      for (var s = 0u; s < u.filter_width; s++) {
${slides ? `
        ${range(columns - 1).map((v) => `v${v} = v${v + 1};`).join(' ')}
        v${columns - 1} = load(next_at, inside & (next_x < u.width));
        next_x += u.stride_w; next_at += u.stride_w;
` : `
        let column = s * u.dilation_w;
        let shift = (c * u.height + row) * u.width + column;
${range(columns).map((v) => `        let v${v} = load(in${v} + shift, inside${v} & (place${v}.x + column < u.width));`).join('\n')}
`}
${range(columns/4).map((v) => `        let value${v} = vec4f(v${v*4}, v${v*4+1}, v${v*4+2}, v${v*4+3});`).join('\n')}
${range(filters).map((f) => `        { let w = weights[weight${f} + tap]; ${range(columns/4).map((v) => `sum${f}_${v} += w * value${v};`).join(' ')} }`).join('\n')}
        tap++;
      }
    }
  }
  if (item >= items) { return; }
${range(filters).map((f) => `  if (first_filter + ${f}u < u.filters) {
    let plane = (group * u.filters + first_filter + ${f}u) * u.output_plane;
${range(columns).map((v) => slides ? `  if (column + ${v}u < u.output_width) { store(corner.output + plane + ${v}u, sum${f}_${v>>2}[${v&3}]); }` : `    if (item * ${columns}u + ${v}u < u.rows * u.output_width) { store(place${v}.output + plane, sum${f}_${v>>2}[${v&3}]); }`).join('\n')}
  }`).join('\n')}
}`,
  }),
);

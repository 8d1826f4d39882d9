import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { repeat } from '../wgsl/repeat.ts';
import { nameOf, type OperandParams, PLACE_OF_GROUP, PRODUCT_UNIFORMS } from './product-kernel.ts';
import { featuresFor, inputType, outputType, readFunction, storeFunction } from './storage-formats.ts';
import { type TileSide, tileSide } from './tile-side.ts';

/** Shape of a workgroup's tile. */
export interface Tile {
  /** Entries of C along m and along n. */
  readonly m: number;
  readonly n: number;
  /** Terms that are in workgroup memory at a time: a multiple of 4. */
  readonly step: number;
  /** Entries of C that one invocation computes, along m and along n: multiples of 4. */
  readonly laneM: number;
  readonly laneN: number;
  /** With 2 the next step is put in place while this one is used, and one barrier a step will do. */
  readonly buffers: 1 | 2;
}

/**
 * What is known of the shape. `full`: all sizes are multiples of the tile's, rows begin and end at multiples of four.
 * `wide`: only the latter. `any`: nothing.
 */
export type Fit = 'full' | 'wide' | 'any';

/** Parameters of {@link tiled}. */
export interface TiledParams extends OperandParams {
  readonly tile: Tile;
  readonly fit: Fit;
}

/** Invocations of a workgroup. */
export function tileInvocations({ m, n, laneM, laneN }: Tile): number {
  return (m / laneM) * (n / laneN);
}

/** Bytes of workgroup memory. */
export function tileBytes({ m, n, step, buffers }: Tile): number {
  return (m + n) * step * buffers * 4;
}

/**
 * `C = alpha op(A) op(B) + beta C`, tiled for GPUs after the common scheme (V. Volkov, J. Demmel, "Benchmarking GPUs to tune
 * dense linear algebra", SC 2008; CUTLASS).
 *
 * A workgroup computes a tile of C. Step by step along k it brings a strip of A and a strip of B to workgroup memory,
 * and each invocation adds the outer products of its rows and columns to `laneM x laneN` sums in registers. The next
 * strips are read to registers before the arithmetic and stored after it, so that memory works meanwhile. Reads and
 * stores are by vectors of four along what is contiguous in memory, k or not: see {@link tileSide} for the layout in
 * workgroup memory. 32 invocations (a warp) make a block of 4 x 8, so that together they read few different vectors of
 * it, neighbours, without bank conflicts. The inner loop is unrolled in the source.
 *
 * An edge costs little inside: reading beyond C gives some element of the operand, for sums that are not stored;
 * beyond k, zeros.
 */
export const tiled: (params: TiledParams) => Kernel = variants((params: TiledParams) => {
  const { input, output, transA, transB, tile, fit } = params;
  const { m, n, step, laneM, laneN, buffers } = tile;
  const wide = fit !== 'any';
  const threads = tileInvocations(tile);
  const [lanesM, lanesN] = [m / laneM, n / laneN];
  const shared = { step, buffers, threads, fit };
  const a = tileSide({ ...shared, name: 'a', count: 'u.m', size: m, each: laneM, lane: 'lane_m', alongK: !transA });
  const b = tileSide({ ...shared, name: 'b', count: 'u.n', size: n, each: laneN, lane: 'lane_n', alongK: transB });

  // Four terms at a time: vectors along k give their rows' values for all four.
  const products = (quad: number): string =>
    [
      '    {',
      a.fetch(quad),
      b.fetch(quad),
      ...[0, 1, 2, 3].flatMap((p) => [
        a.fetchTerm(quad, p),
        b.fetchTerm(quad, p),
        repeat(laneN / 4, (g) => `      let columns${g}_${p} = ${b.vector(g, p)};`),
        repeat(laneM, (i) =>
          repeat(laneN / 4, (g) => `      c${i}_${g} = fma(vec4f(${a.value(i, p)}), columns${g}_${p}, c${i}_${g});`),
        ),
      ]),
      '    }',
    ].join('\n');
  const storeRow = (i: number): string =>
    repeat(laneN / 4, (g) => {
      const column = `column + ${g * 4 * lanesN}u`;
      if (fit === 'full') return `  store_c((c_row + ${g * 4 * lanesN}u) / 4u, c${i}_${g});`;
      if (wide) return `    if (${column} < u.n) { store_c((c_row + ${g * 4 * lanesN}u) / 4u, c${i}_${g}); }`;
      return repeat(
        4,
        (j) => `    if (${column} + ${j}u < u.n) { store_c(c_row + ${g * 4 * lanesN + j}u, c${i}_${g}.${'xyzw'[j]}); }`,
      );
    });

  return defineKernel({
    name: `gemm/tiled ${nameOf(params)} ${m}x${n}x${step} ${laneM}x${laneN}${buffers === 2 ? ' double' : ''} ${fit}`,
    storage: {
      a: { access: 'read', type: inputType(input, wide) },
      b: { access: 'read', type: inputType(input, wide) },
      c: { access: 'read_write', type: outputType(output, wide) },
    },
    uniforms: PRODUCT_UNIFORMS,
    features: featuresFor(output),
    code: /* wgsl */ `
${readFunction('a', input, wide)}
${readFunction('b', input, wide)}
${storeFunction(output, wide)}
${a.memory}
${b.memory}

@compute @workgroup_size(${threads})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
${PLACE_OF_GROUP}
  // Blocks of 4 x 8 lanes, and where in its tile an invocation has its rows and columns.
  let warp = lane / 32u;
  let lane_m = (warp / ${lanesN / 8}u) * 4u + (lane % 32u) / 8u;
  let lane_n = (warp % ${lanesN / 8}u) * 8u + lane % 8u;
${a.declare('tile_row')}
${b.declare('tile_column')}
${repeat(laneM, (i) => repeat(laneN / 4, (g) => `  var c${i}_${g} = vec4f();`))}

  var p = begin;
${a.read}
${b.read}
${buffers === 2 ? loopDouble(a, b, step, repeat(step / 4, products)) : loopSingle(a, b, step, repeat(step / 4, products))}

  let row = tile_row * ${m}u + lane_m * 4u;
  let column = tile_column * ${n}u + lane_n * 4u;
  let c_first = u.c_start + batch * u.c_stride + split * u.c_split + row * u.c_ld + column;
${repeat(laneM, (i) => {
  const down = Math.floor(i / 4) * 4 * lanesM + (i % 4);
  const at = `let c_row = c_first + ${down}u * u.c_ld;`;
  return fit === 'full'
    ? `  {\n  ${at}\n${storeRow(i)}\n  }`
    : `  if (row + ${down}u < u.m) {\n    ${at}\n${storeRow(i)}\n  }`;
})}
}`,
  });
});

const loopDouble = (a: TileSide, b: TileSide, step: number, products: string): string => /* wgsl */ `
  var buffer = 0u;
${a.store('buffer')}
${b.store('buffer')}
  workgroupBarrier();
  for (; p < end; p += ${step}u) {
    let has_next = p + ${step}u < end;
    if (has_next) {
      let p = p + ${step}u;
${a.advance}
${b.advance}
${a.read}
${b.read}
    }
${products}
    if (has_next) {
      buffer = 1u - buffer;
${a.store('buffer')}
${b.store('buffer')}
    }
    workgroupBarrier();
  }`;

const loopSingle = (a: TileSide, b: TileSide, step: number, products: string): string => /* wgsl */ `
  const buffer = 0u;
  for (; p < end; p += ${step}u) {
${a.store('buffer')}
${b.store('buffer')}
    workgroupBarrier();
    if (p + ${step}u < end) {
      let p = p + ${step}u;
${a.advance}
${b.advance}
${a.read}
${b.read}
    }
${products}
    workgroupBarrier();
  }`;

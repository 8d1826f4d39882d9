import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { repeat } from '../wgsl/repeat.ts';
import { nameOf, type OperandParams, PLACE_OF_GROUP, PRODUCT_UNIFORMS } from './product-kernel.ts';
import { featuresFor, inputType, outputType, readFunction, storeFunction } from './storage-formats.ts';
import { stripBytes, type TileSide, tileSide } from './tile-side.ts';

/** Shape of a workgroup's tile. */
export interface Tile {
  /** Entries of C along m and along n. */
  readonly m: number;
  readonly n: number;
  /** Terms that are in workgroup memory at a time. */
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

/** What k must be a multiple of for `full`. */
export function wholeTurn({ step, buffers }: Tile): number {
  return step * buffers;
}

/** Invocations of a workgroup. */
export function tileInvocations({ m, n, laneM, laneN }: Tile): number {
  return (m / laneM) * (n / laneN);
}

/** Bytes of workgroup memory. */
export function tileBytes({ m, n, step, buffers }: Tile): number {
  return stripBytes(m, step, buffers) + stripBytes(n, step, buffers);
}

/**
 * `C = alpha op(A) op(B) + beta C`, tiled for GPUs after the common scheme (V. Volkov, J. Demmel, "Benchmarking GPUs to tune
 * dense linear algebra", SC 2008; CUTLASS).
 *
 * A workgroup computes a tile of C. Step by step along k it brings a strip of A and a strip of B to workgroup memory,
 * and each invocation adds the outer products of its rows and columns to `laneM x laneN` sums in registers. The next
 * strips are read to registers before the arithmetic and stored after it, so that memory works meanwhile. Workgroup
 * memory holds vectors of four rows, or columns, at one term; {@link tileSide} has its layout. 32 invocations (a warp)
 * make a block of 4 x 8, so that together they read few different vectors, neighbours, without bank conflicts. The inner
 * loop is unrolled in the source.
 *
 * Beyond C and beyond k, zeros are read.
 */
export const tiled: (params: TiledParams) => Kernel = variants((params: TiledParams) => {
  const { input, output, transA, transB, tile, fit } = params;
  const { m, n, step, laneM, laneN, buffers } = tile;
  const threads = tileInvocations(tile);
  const [lanesM, lanesN] = [m / laneM, n / laneN];
  const shared = { step, buffers, threads, fit };
  const a = tileSide({ ...shared, name: 'a', count: 'u.m', size: m, each: laneM, lane: 'lane_m', alongK: !transA });
  const b = tileSide({ ...shared, name: 'b', count: 'u.n', size: n, each: laneN, lane: 'lane_n', alongK: transB });
  const wideC = fit !== 'any';

  const products = repeat(step, (p) =>
    [
      a.fetch(p),
      b.fetch(p),
      repeat(laneM, (i) =>
        repeat(laneN / 4, (g) => `      c${i}_${g} = fma(vec4f(${a.value(i, p)}), ${b.vector(g, p)}, c${i}_${g});`),
      ),
    ].join('\n'),
  );
  const storeVector = (i: number, g: number): string => {
    const right = 4 * g * lanesN;
    if (wideC) {
      const store = `store_c((c_row + ${right}u) / 4u, c${i}_${g});`;
      return fit === 'full' ? `    ${store}` : `    if (column + ${right}u < u.n) { ${store} }`;
    }
    return repeat(4, (j) => {
      const store = `store_c(c_row + ${right + j}u, c${i}_${g}.${'xyzw'[j]});`;
      return `    if (column + ${right + j}u < u.n) { ${store} }`;
    });
  };
  const storeRow = (i: number): string => {
    const down = Math.floor(i / 4) * 4 * lanesM + (i % 4);
    return `  ${fit === 'full' ? '' : `if (row + ${down}u < u.m) `}{
    let c_row = c_first + ${down}u * u.c_ld;
${repeat(laneN / 4, (g) => storeVector(i, g))}
  }`;
  };

  return defineKernel({
    name: `gemm/tiled ${nameOf(params)} ${m}x${n}x${step} ${laneM}x${laneN}${buffers === 2 ? ' double' : ''} ${fit}`,
    storage: {
      a: { access: 'read', type: inputType(input, a.wide) },
      b: { access: 'read', type: inputType(input, b.wide) },
      c: { access: 'read_write', type: outputType(output, wideC) },
    },
    uniforms: PRODUCT_UNIFORMS,
    features: featuresFor(output),
    code: /* wgsl */ `
${readFunction('a', input, a.wide)}
${readFunction('b', input, b.wide)}
${storeFunction(output, wideC)}
${a.memory}
${b.memory}

@compute @workgroup_size(${threads})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
${PLACE_OF_GROUP}
  // Blocks of 4 x 8 invocations.
  let warp = lane / 32u;
  let lane_m = (warp / ${lanesN / 8}u) * 4u + (lane % 32u) / 8u;
  let lane_n = (warp % ${lanesN / 8}u) * 8u + lane % 8u;
${a.declare('tile_row')}
${b.declare('tile_column')}
${repeat(laneM, (i) => repeat(laneN / 4, (g) => `  var c${i}_${g} = vec4f();`))}

  let steps = (end - begin + ${step - 1}u) / ${step}u;
  var p = begin;
${a.read}
${b.read}
${buffers === 2 ? loopWithTwoBuffers(a, b, step, products) : loopWithOneBuffer(a, b, step, products)}

  let row = tile_row * ${m}u + lane_m * 4u;
  let column = tile_column * ${n}u + lane_n * 4u;
  let c_first = u.c_start + batch * u.c_stride + split * u.c_split + row * u.c_ld + column;
${repeat(laneM, storeRow)}
}`,
  });
});

/** Reads the next strips to registers. There are none after the last: then it is read again, and not used. */
const readNext = (a: TileSide, b: TileSide, step: number): string => /* wgsl */ `
      p += ${step}u;
${a.advance('p < end')}
${b.advance('p < end')}
${a.read}
${b.read}`;

/**
 * Two steps a turn, so that the buffer is a constant in each. After an odd number of steps the last one adds zeros: beyond
 * `end` nothing but zeros is read, and where that is not checked, the number is even.
 */
const loopWithTwoBuffers = (a: TileSide, b: TileSide, step: number, products: string): string => {
  const stepFrom = (buffer: number): string => `
    {
${readNext(a, b, step)}
      const buffer = ${buffer}u;
${products}
    }
    {
      const buffer = ${1 - buffer}u;
${a.store}
${b.store}
    }
    workgroupBarrier();`;
  return /* wgsl */ `
  {
    const buffer = 0u;
${a.store}
${b.store}
  }
  workgroupBarrier();
  let turns = (steps + 1u) / 2u;
  for (var turn = 0u; turn < turns; turn++) {
${stepFrom(0)}
${stepFrom(1)}
  }`;
};

const loopWithOneBuffer = (a: TileSide, b: TileSide, step: number, products: string): string => /* wgsl */ `
  const buffer = 0u;
  for (var turn = 0u; turn < steps; turn++) {
${a.store}
${b.store}
    workgroupBarrier();
${readNext(a, b, step)}
${products}
    workgroupBarrier();
  }`;

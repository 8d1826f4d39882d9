import { mainOf } from '../kernel.ts';
import { repeat, storeC } from '../wgsl/snippets.ts';
import {
  nameOf,
  type OperandParams,
  PLACE_OF_GROUP,
  PRODUCT_UNIFORMS,
  type ProductKernel,
  productKernel,
} from './product-kernel.ts';
import { featuresFor, inputType, outputType, readFunction, storeFunction } from './storage-formats.ts';
import { COMBINE_ROWS, type Fit, lanesOf, type Tile, tileInvocations } from './tile.ts';
import { type TileSide, tileSide } from './tile-side.ts';

/** Parameters of {@link tiled}. */
export interface TiledParams extends OperandParams {
  readonly tile: Tile;
  readonly fit: Fit;
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
 * loop is unrolled in the source, and fetches the vectors of a term before it multiplies those of the term before.
 */
export const tiled: ProductKernel<TiledParams> = productKernel('gemm/tiled', (params, epilogue) => {
  const { input, output, transA, transB, tile, fit } = params;
  const { m, n, step, laneM, laneN, buffers, slices } = tile;
  const threads = tileInvocations(tile);
  const [lanesM, lanesN] = [m / laneM, n / laneN];
  const shared = { step, slices, buffers, threads, fit };
  const a = tileSide({ ...shared, name: 'a', count: 'u.m', size: m, each: laneM, lane: 'lane_m', alongK: !transA });
  const b = tileSide({ ...shared, name: 'b', count: 'u.n', size: n, each: laneN, lane: 'lane_n', alongK: transB });
  const wide = fit !== 'any';

  const depth = step / slices;
  const fetch = (p: number): string => (p < depth ? `${a.fetch(p)}\n${b.fetch(p)}` : '');
  const multiply = (p: number): string =>
    repeat(laneM, (i) =>
      repeat(laneN / 4, (g) => `      c${i}_${g} = fma(vec4f(${a.value(i, p)}), ${b.vector(g, p)}, c${i}_${g});`),
    );
  // The vectors of the next term are on their way while those of this one are multiplied.
  const products = `${fetch(0)}\n${repeat(depth, (p) => `${fetch(p + 1)}\n${multiply(p)}`)}`;

  const placeOf = (row: string, column: string) => (epilogue === undefined ? [] : ['batch', row, column]);
  const storeVector = (down: number, i: number, g: number): string => {
    const right = 4 * g * lanesN;
    const at = (j: number) => placeOf(`row + ${down}u`, `column + ${right + j}u`);
    if (wide) {
      const checks = fit === 'full' ? [] : [`column + ${right}u < u.n`];
      return `    ${storeC({ by: 'store_c', at: `(c_row + ${right}u) / 4u`, place: at(0), acc: `c${i}_${g}`, checks })}`;
    }
    return repeat(4, (j) => {
      const checks = [`column + ${right + j}u < u.n`];
      return `    ${storeC({ by: 'store_c', at: `c_row + ${right + j}u`, place: at(j), acc: `c${i}_${g}.${'xyzw'[j]}`, checks })}`;
    });
  };
  const storeRow = (i: number): string => {
    const down = Math.floor(i / 4) * 4 * lanesM + (i % 4);
    return `  ${fit === 'full' ? '' : `if (row + ${down}u < u.m) `}{
    let c_row = c_first + ${down}u * u.c_ld;
${repeat(laneN / 4, (g) => storeVector(down, i, g))}
  }`;
  };

  return {
    name: `gemm/tiled ${nameOf(params)} ${tileName(tile)} ${fit}`,
    storage: {
      a: { access: 'read', type: inputType(input, wide) },
      b: { access: 'read', type: inputType(input, wide) },
      c: { access: 'read_write', type: outputType(output, wide) },
    },
    uniforms: PRODUCT_UNIFORMS,
    features: featuresFor(output, wide),
    code: /* wgsl */ `
${readFunction('a', input, wide)}
${readFunction('b', input, wide)}
${storeFunction(output, wide, epilogue)}
${a.memory}
${b.memory}
${combineMemory(tile)}

${mainOf(threads)}
${PLACE_OF_GROUP}
  let slice = lane / ${lanesOf(tile)}u;
  let own = lane % ${lanesOf(tile)}u;
  // Blocks of 4 x 8 invocations.
  let warp = own / 32u;
  let lane_m = (warp / ${lanesN / 8}u) * 4u + (own % 32u) / 8u;
  let lane_n = (warp % ${lanesN / 8}u) * 8u + own % 8u;
${a.declare('tile_row')}
${b.declare('tile_column')}
${repeat(laneM, (i) => repeat(laneN / 4, (g) => `  var c${i}_${g} = vec4f();`))}

  let steps = (end - begin + ${step - 1}u) / ${step}u;
  var p = begin;
${a.read}
${b.read}
${buffers === 2 ? loopWithTwoBuffers(a, b, step, products) : loopWithOneBuffer(a, b, step, products)}
${combine(tile)}
  let row = tile_row * ${m}u + lane_m * 4u;
  let column = tile_column * ${n}u + lane_n * 4u;
  let c_first = u.c_start + batch * u.c_stride + split * u.c_split + row * u.c_ld + column;
${repeat(laneM, storeRow)}
}`,
  };
});

function tileName({ m, n, step, laneM, laneN, buffers, slices }: Tile): string {
  const how = `${buffers === 2 ? ' double' : ''}${slices > 1 ? ` in two slices` : ''}`;
  return `${m}x${n}x${step} ${laneM}x${laneN}${how}`;
}

/** WGSL: the workgroup memory of {@link combine}. */
function combineMemory(tile: Tile): string {
  const vectors = (COMBINE_ROWS * tile.laneN) / 4;
  return tile.slices === 1 ? '' : `var<workgroup> partial_sums: array<array<vec4f, ${lanesOf(tile)}>, ${vectors}>;`;
}

/** WGSL: adds the sums of the second slice to those of the first, which goes on alone. */
const combine = ({ laneM, laneN, slices }: Tile): string => {
  if (slices === 1) return '';
  const forEach = (first: number, line: (sum: string, place: string) => string): string =>
    repeat(COMBINE_ROWS, (i) =>
      repeat(laneN / 4, (g) => line(`c${first + i}_${g}`, `partial_sums[${(i * laneN) / 4 + g}][own]`)),
    );
  const combineRows = (first: number): string => /* wgsl */ `
  if (slice == 1u) {
${forEach(first, (sum, place) => `    ${place} = ${sum};`)}
  }
  workgroupBarrier();
  if (slice == 0u) {
${forEach(first, (sum, place) => `    ${sum} += ${place};`)}
  }
  workgroupBarrier();`;
  return `${repeat(laneM / COMBINE_ROWS, (group) => combineRows(group * COMBINE_ROWS))}
  if (slice == 1u) { return; }`;
};

/** Reads the next strips to registers. There are none after the last: then it is read again, and not used. */
const readNext = (a: TileSide, b: TileSide, step: number): string => /* wgsl */ `
      p += ${step}u;
${a.advance}
${b.advance}
${a.read}
${b.read}`;

/**
 * Two steps an iteration, so that the buffer is a constant in each. After an odd number of steps the last one adds zeros: beyond
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
  let iterations = (steps + 1u) / 2u;
  for (var iteration = 0u; iteration < iterations; iteration++) {
${stepFrom(0)}
${stepFrom(1)}
  }`;
};

const loopWithOneBuffer = (a: TileSide, b: TileSide, step: number, products: string): string => /* wgsl */ `
  const buffer = 0u;
  for (var iteration = 0u; iteration < steps; iteration++) {
${a.store}
${b.store}
    workgroupBarrier();
${readNext(a, b, step)}
${products}
    workgroupBarrier();
  }`;

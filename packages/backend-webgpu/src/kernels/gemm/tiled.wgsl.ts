import { repeat, storeC } from '../wgsl/snippets.ts';
import { COMBINE_ROWS, type Fit, lanesOf, PAD, type Tile, tileInvocations } from './tile.ts';
import { mainOf } from '../kernel.ts';
import {
  nameOf,
  type OperandParams,
  PLACE_OF_GROUP,
  PRODUCT_UNIFORMS,
  type ProductKernel,
  productKernel,
} from './product-kernel.ts';
import { productBindings, readFunction, storeFunction } from './storage-formats.ts';

/** The options of {@link tileSide} for one operand. */
interface TileSideParams {
  readonly name: 'a' | 'b';
  /** WGSL: rows of op(A), or columns of op(B). */
  readonly count: string;
  /** Rows (columns) of the tile, and those of one invocation. */
  readonly size: number;
  readonly each: number;
  /** WGSL: number of the invocation along m (n). */
  readonly lane: string;
  /** True if neighbours in memory are neighbours along k. */
  readonly alongK: boolean;
  readonly step: Tile['step'];
  readonly slices: Tile['slices'];
  readonly buffers: Tile['buffers'];
  readonly threads: number;
  readonly fit: Fit;
}

/** Source text for one operand's strip of a tile. */
interface TileSide {
  /** Declares the workgroup memory. */
  readonly memory: string;
  /** Declares what the reads need; `tile` is the number of the tile along m (n). */
  declare(tile: string): string;
  /** Reads a strip to registers: the one that begins at term `p`. */
  readonly read: string;
  /** Moves on to the next strip, if there is one. */
  readonly advance: string;
  /** Puts the registers into `buffer` of workgroup memory. */
  readonly store: string;
  /** Gets the invocation's vectors for term p of its slice out of `buffer`. */
  fetch(p: number): string;
  /** Value of the invocation's row (column) i at term p. */
  value(i: number, p: number): string;
  /** Values of its rows (columns) 4g .. 4g + 3 at term p. */
  vector(g: number, p: number): string;
}

/**
 * Workgroup memory is `[buffer][slice][term][four rows]`, vectors of the values of four neighbouring rows (columns) at one
 * term. Vector g of an invocation is vector `g * lanes + lane` of the tile, where there are `lanes = size / each` invocations
 * along it; so neighbouring invocations read neighbouring vectors.
 *
 * Rows beyond the edge of the matrix are read as its last one: nothing that comes of them is stored. Terms beyond `end` are
 * zeros, as every sum would have them.
 */
function tileSide(params: TileSideParams): TileSide {
  const { name, count, size, each, lane, alongK, step, slices, buffers, threads, fit } = params;
  const reads = (size * step) / 4 / threads;
  if (!Number.isInteger(reads)) throw new RangeError(`a strip of ${size} x ${step} is not shared by ${threads} evenly`);
  const wide = fit !== 'any';
  const perUnit = wide ? ' / 4u' : '';
  const line = `${name}_line`;
  const depth = step / slices;
  const reading = wayOfReading(wide, alongK)(params);

  const declareRead = (i: number): string => `${reading.declare(i, `(lane + ${i * threads}u)`)}
${slices > 1 ? `  let ${name}_slice${i} = ${name}_term${i} / ${depth}u;` : ''}
  let ${name}_depth${i} = ${name}_term${i}${slices > 1 ? ` % ${depth}u` : ''};
  var ${name}_at${i} = ${name}_start + ${reading.place(i)};
  var ${name}_next${i} = vec4f();`;
  const readNext = (i: number): string => `${name}_next${i} = ${reading.read(i)};`;
  const readWithin = (i: number): string => `
        ${name}_next${i} = vec4f();
        if (p + ${name}_term${i} < end) { ${readNext(i)} }`;
  // One condition for all of a strip costs less than one for each read.
  const readPart = `
      if (p + ${step}u <= end) {
${repeat(reads, readNext)}
      } else {${repeat(reads, readWithin)}
      }`;
  // Where reads are not guarded, the last strip is read once more rather than one beyond it.
  const distance = fit === 'full' ? `select(0u, ${name}_step, p < end)` : `${name}_step`;

  const fetched = (g: number, p: number): string => `${name}${g}_${p}`;
  const strip = `array<array<vec4f, ${size / 4 + PAD}>, ${depth}>`;
  return {
    memory: `var<workgroup> ${name}_tile: array<${slices > 1 ? `array<${strip}, ${slices}>` : strip}, ${buffers}>;`,
    declare: (tile) => `  let ${name}_start = (u.${name}_start + batch * u.${name}_stride)${perUnit};
  let ${line} = u.${name}_ld${perUnit};
  let ${name}_step = ${alongK ? `${step}u${perUnit}` : `${step}u * ${line}`};
  let ${name}_first = ${tile} * ${size}u;
  let ${name}_last = ${count} - 1u;
${repeat(reads, declareRead)}`,
    read: fit === 'full' ? repeat(reads, readNext) : readPart,
    advance: repeat(reads, (i) => `      ${name}_at${i} += ${distance};`),
    store: repeat(reads, (i) => reading.store(i)),
    fetch: (p) =>
      repeat(each / 4, (g) => {
        const vector = `[${p}][${lane} + ${(g * size) / each}u]`;
        return `      let ${fetched(g, p)} = ${name}_tile[buffer]${slices > 1 ? '[slice]' : ''}${vector};`;
      }),
    value: (i, p) => `${fetched(Math.floor(i / 4), p)}.${'xyzw'[i % 4]}`,
    vector: fetched,
  };
}

/** The code by which an invocation loads four numbers of a strip at a time; `i` numbers these fours. */
interface Reading {
  /** WGSL: declares, for what invocation `slot` brings, the (first) term in the strip as `<name>_term<i>`, and its rows. */
  declare(i: number, slot: string): string;
  /** WGSL: where they lie in memory for the first strip. */
  place(i: number): string;
  /** WGSL: reads them at `<name>_at<i>` as a vector. */
  read(i: number): string;
  /** WGSL: writes `<name>_next<i>` to workgroup memory. */
  store(i: number): string;
}

function wayOfReading(wide: boolean, alongK: boolean): (params: TileSideParams) => Reading {
  if (wide) return alongK ? vectorAlongK : vectorAcross;
  return alongK ? singlesAlongK : singlesAcross;
}

/** WGSL: the place in workgroup memory of four i's first term, or `plus` terms on. */
function cell({ name, slices }: TileSideParams, i: number, plus = 0): string {
  return `${name}_tile[buffer]${slices > 1 ? `[${name}_slice${i}]` : ''}[${name}_depth${i} + ${plus}u]`;
}

/** Memory has rows as neighbours: four of them are a vector there and here. */
function vectorAcross(params: TileSideParams): Reading {
  const { name, size, fit } = params;
  const first = (i: number): string => `${name}_first + ${name}_four${i} * 4u`;
  return {
    declare: (i, slot) => `
  let ${name}_term${i} = ${slot} / ${size / 4}u;
  let ${name}_four${i} = ${slot} % ${size / 4}u;
  let ${name}_row${i} = ${fit === 'full' ? first(i) : `min(${first(i)}, ${name}_last)`};`,
    place: (i) => `(begin + ${name}_term${i}) * ${name}_line + ${name}_row${i} / 4u`,
    read: (i) => `read_${name}(${name}_at${i})`,
    store: (i) => `      ${cell(params, i)}[${name}_four${i}] = ${name}_next${i};`,
  };
}

/** Memory has terms as neighbours, and gives four of a row as a vector, which is transposed on the way. */
function vectorAlongK(params: TileSideParams): Reading {
  const { name, step, fit } = params;
  const row = (i: number): string => `${name}_first + ${name}_row${i}`;
  return {
    declare: (i, slot) => `
  let ${name}_term${i} = ${slot} % ${step / 4}u * 4u;
  let ${name}_row${i} = ${slot} / ${step / 4}u;`,
    place: (i) =>
      `${fit === 'full' ? `(${row(i)})` : `min(${row(i)}, ${name}_last)`} * ${name}_line + (begin + ${name}_term${i}) / 4u`,
    read: (i) => `read_${name}(${name}_at${i})`,
    store: (i) =>
      repeat(4, (j) => {
        const element = `[${name}_row${i} / 4u][${name}_row${i} % 4u]`;
        return `      ${cell(params, i, j)}${element} = ${name}_next${i}[${j}];`;
      }),
  };
}

/** Memory has rows as neighbours, one by one. Neighbouring invocations take neighbouring rows, each of four quarters. */
function singlesAcross(params: TileSideParams): Reading {
  const { name, size } = params;
  const quarter = size / 4;
  const rows = (i: number): string =>
    repeat(4, (j) => {
      const row = `${name}_first + ${name}_row${i} + ${j * quarter}u`;
      return `  let ${name}_row${i}_${j} = min(${row}, ${name}_last);`;
    });
  return {
    declare: (i, slot) => `
  let ${name}_term${i} = ${slot} / ${quarter}u;
  let ${name}_row${i} = ${slot} % ${quarter}u;
${rows(i)}`,
    place: (i) => `(begin + ${name}_term${i}) * ${name}_line`,
    read: (i) => readFour(name, i),
    store: (i) =>
      repeat(4, (j) => {
        const element = `[${name}_row${i} / 4u + ${(j * quarter) / 4}u][${name}_row${i} % 4u]`;
        return `      ${cell(params, i)}${element} = ${name}_next${i}[${j}];`;
      }),
  };
}

/** Memory has terms as neighbours, one by one. Neighbouring invocations take neighbouring terms, each of four rows. */
function singlesAlongK(params: TileSideParams): Reading {
  const { name, step } = params;
  const rows = (i: number): string =>
    repeat(4, (j) => {
      const row = `${name}_first + ${name}_four${i} * 4u + ${j}u`;
      return `  let ${name}_row${i}_${j} = min(${row}, ${name}_last) * ${name}_line;`;
    });
  return {
    declare: (i, slot) => `
  let ${name}_term${i} = ${slot} % ${step}u;
  let ${name}_four${i} = ${slot} / ${step}u;
${rows(i)}`,
    place: (i) => `begin + ${name}_term${i}`,
    read: (i) => readFour(name, i),
    store: (i) => `      ${cell(params, i)}[${name}_four${i}] = ${name}_next${i};`,
  };
}

/** WGSL: a number of each of four rows. */
function readFour(name: string, i: number): string {
  const numbers = [0, 1, 2, 3].map((j) => `read_${name}(${name}_at${i} + ${name}_row${i}_${j})`);
  return `vec4f(${numbers.join(', ')})`;
}

/** Parameters of {@link tiled}. */
interface TiledParams extends OperandParams {
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
    ...productBindings(input, output, [wide, wide, wide]),
    uniforms: PRODUCT_UNIFORMS,
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

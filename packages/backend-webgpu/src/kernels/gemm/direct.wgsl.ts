import { shapeOf } from '@concord/variants';
import { mainOf } from '../kernel.ts';
import { repeat, storeC } from '../wgsl/snippets.ts';
import {
  launchTiles,
  nameOf,
  type OperandParams,
  operandParams,
  PLACE_OF_GROUP,
  PRODUCT_UNIFORMS,
  productKernel,
  type TileLaunch,
} from './product-kernel.ts';
import { productBindings, readFunction, storeFunction } from './storage-formats.ts';
import type { DeviceTraits } from '../recorder.ts';
import { isVector, type Product, type ProductTable, type Variant } from './product.ts';
import { tilesOn } from './tile.ts';

/** Entries of C that one invocation computes: multiples of 4. */
interface DirectTile {
  readonly rows: number;
  readonly columns: number;
}

/** Parameters of {@link direct}. */
interface DirectParams extends OperandParams, DirectTile {
  /** Every row of A, B and C begins and ends at a multiple of four elements: they are read and written by fours. */
  readonly wide: boolean;
}

/** Invocations of a workgroup along m and along n. */
const DIRECT_GROUP = 8;

/** Terms per iteration of the loop. */
const STEP = 4;

/**
 * `C = alpha op(A) op(B) + beta C` without workgroup memory: for devices whose shaders run on the CPU, where a barrier
 * costs more than it saves.
 *
 * An invocation keeps `rows x columns` sums in registers and reads what they need straight from memory; 8 x 8
 * invocations make a workgroup. An iteration of the loop takes four terms: each sum gets four products in one expression. What
 * a software device spends its time on is reading memory for each invocation apart, so tiles are as large as pays,
 * whatever the number of registers.
 *
 * Invocations that reach beyond C read the last row or column again and write nothing.
 */
const direct = productKernel<DirectParams>('gemm/direct', (params, epilogue) => {
  const { input, output, transA, transB, rows, columns, wide } = params;
  const a = side('a', rows, !transA, wide);
  const b = side('b', columns, transB, wide);
  const sums = (terms: number): string =>
    repeat(rows, (i) =>
      repeat(columns, (j) => {
        const products = Array.from({ length: terms }, (_, p) => `${a.value(i, p)} * ${b.value(j, p)}`);
        return `      c${i}_${j} += ${products.join(' + ')};`;
      }),
    );
  const iteration = (terms: number): string => `${a.read(terms)}\n${b.read(terms)}\n${sums(terms)}`;
  const placeOf = (row: string, column: string) => (epilogue === undefined ? [] : ['batch', row, column]);
  const store = (i: number, j: number, at: string, acc: string): string =>
    `    ${storeC({ by: 'store_c', at, place: placeOf(`row + ${i}u`, `column + ${j}u`), acc, checks: [`column + ${j}u < u.n`] })}`;
  const storeRow = wide
    ? (i: number) =>
        repeat(columns / 4, (g) => {
          const sums = [0, 1, 2, 3].map((j) => `c${i}_${4 * g + j}`);
          return store(i, 4 * g, `c_row / 4u + ${g}u`, `vec4f(${sums.join(', ')})`);
        })
    : (i: number) => repeat(columns, (j) => store(i, j, `c_row + ${j}u`, `c${i}_${j}`));

  return {
    name: `gemm/direct ${nameOf(params)} ${rows}x${columns}${wide ? ' wide' : ''}`,
    ...productBindings(input, output, [wide, wide, wide]),
    uniforms: PRODUCT_UNIFORMS,
    code: /* wgsl */ `
${readFunction('a', input, wide)}
${readFunction('b', input, wide)}
${storeFunction(output, wide, epilogue)}

${mainOf(DIRECT_GROUP * DIRECT_GROUP)}
${PLACE_OF_GROUP}
  let row = (tile_row * ${DIRECT_GROUP}u + lane / ${DIRECT_GROUP}u) * ${rows}u;
  let column = (tile_column * ${DIRECT_GROUP}u + lane % ${DIRECT_GROUP}u) * ${columns}u;
  if (row >= u.m || column >= u.n) { return; }
${a.declare('row', 'u.m')}
${b.declare('column', 'u.n')}
${repeat(rows, (i) => repeat(columns, (j) => `  var c${i}_${j} = 0.0;`))}
  var p = begin;
  for (; p + ${STEP}u <= end; p += ${STEP}u) {
${iteration(STEP)}
    ${a.advance(STEP)}
    ${b.advance(STEP)}
  }
  ${
    // Where four terms are read at once, the number of terms is a multiple of four.
    wide && (!transA || transB)
      ? ''
      : `for (; p < end; p++) {
${iteration(1)}
    ${a.advance(1)}
    ${b.advance(1)}
  }`
  }
  let c_first = u.c_start + batch * u.c_stride + split * u.c_split + row * u.c_ld + column;
${repeat(
  rows,
  (i) => `  if (row + ${i}u < u.m) {
    let c_row = c_first + ${i}u * u.c_ld;
${storeRow(i)}
  }`,
)}
}`,
  };
});

/** Source text for one operand's part of a tile: `size` rows of op(A), or columns of op(B). */
interface Side {
  /** Declares where to read: `<name>_at` moves along k, `<name>_<i>` is the place of row i, or of four of them. */
  declare(first: string, count: string): string;
  /** Reads `terms` values of each row. */
  read(terms: number): string;
  /** Value of row i at term p of the iteration. */
  value(i: number, p: number): string;
  advance(terms: number): string;
}

/** @param alongK - whether neighbours in memory are neighbours along k */
function side(name: string, size: number, alongK: boolean, wide: boolean): Side {
  const unit = wide ? 4 : 1;
  const line = `(u.${name}_ld / ${unit}u)`;
  const from = (row: number, p: number): string =>
    `read_${name}(${name}_at + ${name}_${row} + ${alongK ? `${p}u` : `${p}u * ${line}`})`;
  const first = `(u.${name}_start + batch * u.${name}_stride) / ${unit}u`;
  const advance = (terms: number): string =>
    alongK ? `${name}_at += ${Math.ceil(terms / unit)}u;` : `${name}_at += ${terms}u * ${line};`;

  if (alongK) {
    return {
      declare: (row, count) =>
        [
          `  var ${name}_at = ${first} + begin / ${unit}u;`,
          repeat(size, (i) => `  let ${name}_${i} = min(${row} + ${i}u, ${count} - 1u) * ${line};`),
        ].join('\n'),
      read: (terms) =>
        repeat(size, (i) =>
          wide
            ? `      let ${name}${i} = ${from(i, 0)};`
            : repeat(terms, (p) => `      let ${name}${i}_${p} = ${from(i, p)};`),
        ),
      value: (i, p) => (wide ? `${name}${i}.${'xyzw'[p]}` : `${name}${i}_${p}`),
      advance,
    };
  }
  return {
    declare: (row, count) =>
      [
        `  var ${name}_at = ${first} + begin * ${line};`,
        repeat(size / unit, (i) => `  let ${name}_${i} = min(${row} + ${i * unit}u, ${count} - ${unit}u) / ${unit}u;`),
      ].join('\n'),
    read: (terms) => repeat(terms, (p) => repeat(size / unit, (i) => `      let ${name}${i}_${p} = ${from(i, p)};`)),
    value: (i, p) => (wide ? `${name}${Math.floor(i / 4)}_${p}.${'xyzw'[i % 4]}` : `${name}${i}_${p}`),
    advance,
  };
}

const SMALLEST_TILE: DirectTile = { rows: 4, columns: 4 };

/** Tiles of invocations, largest first: larger ones compute faster and compile slower. */
const TILES: ReadonlyMap<string, DirectTile> = new Map(
  [{ rows: 8, columns: 16 }, { rows: 8, columns: 8 }, SMALLEST_TILE].map((tile) => [idOf(tile), tile]),
);

/** Tiles of C that are worth the larger tile, and worth its compilation. */
const ENOUGH_TILES = 512;

/** Products without workgroup memory: for software devices, and for those that have no room for the tiles of others. */
export const directTable: ProductTable = {
  ids: [...TILES.keys()],
  kernelsFor: (traits) => {
    if (!isFor(traits)) return [];
    return operandParams(traits).flatMap((params) =>
      [...TILES.values()].flatMap((tile) => [false, true].map((wide) => direct({ ...params, ...tile, wide }))),
    );
  },
  candidates: ({ product }, traits) => {
    if (isVector(product) || !isFor(traits)) return undefined;
    return { variants: directTable.ids.map((id) => ({ id, splits: 1 })), preferred: best(product) };
  },
  // A compiler of a software device takes each store of a large tile apart: a kernel after it costs less.
  appliesEpilogues: ({ id }) => id === idOf(SMALLEST_TILE),
  launch: ({ product, splits }, variant, recorder) => {
    const { rows, columns } = shapeOf(TILES, variant);
    const { transA, transB, a, c } = product;
    const params = { input: a.dtype, output: c.dtype, transA, transB, rows, columns };
    const tile = { m: rows * DIRECT_GROUP, n: columns * DIRECT_GROUP };
    const kernel: TileLaunch['kernel'] = (wide, epilogue) => direct({ ...params, wide }, epilogue);
    launchTiles(product, { id: variant.id, tile, kernel }, splits, recorder);
  },
};

function isFor(traits: DeviceTraits): boolean {
  return tilesOn(traits).length === 0;
}

function best({ m, n }: Product): Variant {
  const isWorthwhile = ({ rows, columns }: DirectTile): boolean =>
    Math.floor(m / rows) * Math.floor(n / columns) >= ENOUGH_TILES;
  return { id: idOf([...TILES.values()].find(isWorthwhile) ?? SMALLEST_TILE), splits: 1 };
}

function idOf({ rows, columns }: DirectTile): string {
  return `gemm/direct-${rows}x${columns}`;
}

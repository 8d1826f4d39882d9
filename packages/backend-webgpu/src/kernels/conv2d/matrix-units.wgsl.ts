import type { FloatDType } from '@concord/backend-core';
import { BYTES_OF } from '@concord/backend-core/implement';
import { ofType, shapeOf } from '@concord/variants';
import { mainOf } from '../kernel.ts';
import { slice } from '../operands.ts';
import { bindEpilogue } from '../epilogue/fused-epilogue.ts';
import { finish } from '../gemm/finish.wgsl.ts';
import {
  bestOnUnits,
  matrixInvocations,
  type MatrixTile,
  operandStrips,
  type RatedMatrixTile,
  EACH_STEP,
  STEP,
  tileOnUnits,
  tilesOnUnits,
  VECTOR,
} from '../gemm/matrix-tile.ts';
import { type MatrixUnitsFit, operandReads } from '../gemm/matrix-units.wgsl.ts';
import { productKernel } from '../gemm/product-kernel.ts';
import { DTYPES, outputType, storeFunction } from '../gemm/storage-formats.ts';
import { repeat, storeC } from '../wgsl/snippets.ts';
import { MAX_COLUMNS, MAX_ROWS, SETS } from './strips.ts';
import { placeFunctions, windowUniforms } from './window.wgsl.ts';
import { type Conv2dShape, type Conv2dTable, FEW_FILTERS, placesOf } from './windows.ts';

/** The parameters that distinguish the kernels. Input and filter are f16. */
interface MatrixConv2dParams {
  readonly tile: MatrixTile;
  readonly output: FloatDType;
  /** The fit: whether filters and taps fill their tiles. */
  readonly fit: MatrixUnitsFit;
  /** Filters begin and end at multiples of eight. */
  readonly isByVectors: boolean;
  /** Four neighbours of the output, of one image, are stored at a time. */
  readonly isWide: boolean;
  /** No tap lies outside of the image, and the taps are a whole number of steps. */
  readonly isInside: boolean;
  /** No read may go beyond a binding, which costs a comparison each. */
  readonly isClamped: boolean;
}

/** Taps in the table of places, twice as many as are put there at a time. */
const TABLE = 256;
const TABLE_BYTES = 8 * TABLE;

/** The elements of a vector: their numbers. */
const EIGHT = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** WGSL: a vector of eight numbers of f16. */
function packed(element: (index: number) => string): string {
  return `vec4u(${[0, 2, 4, 6].map((i) => `bitcast<u32>(vec2h(${element(i)}, ${element(i + 1)}))`).join(', ')})`;
}

/**
 * Convolution of f16 as the matrix product filters x patches on the matrix units of the GPU: that of `implicit-gemm.wgsl.ts` with
 * the tiles of `gemm/matrix-units.wgsl.ts`. An invocation gathers taps of one place, eight for a vector, and a table tells how far a
 * tap lies from its place's corner.
 */
const matrixConv2d = productKernel<MatrixConv2dParams>('conv2d/matrix', (params, epilogue) => {
  const { tile, output, fit, isByVectors, isWide, isInside, isClamped } = params;
  const { m, n, piece } = tile;
  const a = operandStrips({ name: 'a', tile, order: 'along k' });
  const b = operandStrips({ name: 'b', tile, order: 'gathered' });
  const vectors = operandReads('a', true, tile, a, fit);
  const onUnits = tileOnUnits(tile, a, b);
  const threads = matrixInvocations(tile);
  const within = (name: string, at: string): string =>
    `${name}[${isClamped ? `min(${at}, arrayLength(&${name}) - 1u)` : at}]`;
  const singles = repeat(a.reads, (read) => {
    const row = `a_first + ${a.place('row', read)}`;
    const element = (i: number): string => `select(0h, ${within('a', `first + ${i}u`)}, has_row && term + ${i}u < end)`;
    return `    {
      let term = p + ${a.place('term', read)};
      let has_row = ${row} < u.m;
      let first = u.a_start + batch * u.a_stride + (${row}) * u.a_ld + term;
      ${a.register(read)} = ${packed(element)};
    }`;
  });
  const halves = (read: number): string => `halves${read}`;
  const gather = repeat(
    b.reads,
    (read) => `    {
      let first = ((p - begin) % ${TABLE}u) + ${b.place('term', read)};
${EIGHT.map((i) =>
  isInside
    ? `      ${halves(read)}_${i} = ${within('input', `corner + taps[first + ${i}u].x`)};`
    : `      { let tap = taps[first + ${i}u]; ${halves(read)}_${i} = select(0h, ${within('input', 'corner + tap.x')}, (outside & tap.y) == 0u); }`,
).join('\n')}
    }`,
  );
  const pack = repeat(b.reads, (read) => `    ${b.register(read)} = ${packed((i) => `${halves(read)}_${i}`)};`);
  const width = isWide ? 4 : 1;
  const filter = 'first_filter + row';
  const place = ['image', `batch * u.m + ${filter}`, 'inner / u.output_width', 'inner % u.output_width'];
  const fillTable = (first: string): string =>
    `if (lane < ${TABLE / 2}u) { taps[(${first} - begin + lane) % ${TABLE}u] = tap_at(${first} + lane, end); }`;

  return {
    name: `conv2d/matrix ${output} ${m}x${n}x${STEP} ${piece}x${piece} ${fit}${isByVectors ? ' vectors' : ''}${isWide ? ' wide' : ''}${isInside ? ' inside' : ''}${isClamped ? ' clamped' : ''}`,
    storage: {
      a: { access: 'read', type: isByVectors ? 'array<vec4u>' : 'array<f16>' },
      input: { access: 'read', type: 'array<f16>' },
      c: { access: 'read_write', type: outputType(output, isWide) },
    },
    uniforms: {
      ...windowUniforms,
      // As those of a product, of filters and taps.
      ...ofType('u32', 'm a_ld a_start a_stride'),
      ...ofType('f32', 'alpha beta'),
      ...ofType('u32', 'reads_c image_places'),
      // Taps of a range, and elements between the sums of two ranges.
      ...ofType('u32', 'depth output_split'),
    },
    features: ['f16', 'subgroups', 'chromium_experimental_subgroup_matrix'],
    silenced: ['chromium.subgroup_matrix_uniformity'],
    code: /* wgsl */ `
${placeFunctions}
${SETS}
${storeFunction(output, isWide, epilogue, ['image', 'filter_index', 'output_row', 'output_column'])}
${onUnits.memory}
var<workgroup> taps: array<vec2u, ${TABLE}>;

${mainOf(threads)}
  let number = group_index(id, grid);
  if (number >= u.group_count) { return; }
  let places = u.rows * u.output_width;
  let filter_tiles = (u.m + ${m - 1}u) / ${m}u;
  let place_tiles = (places + ${n - 1}u) / ${n}u;
  let first_place = number / filter_tiles % place_tiles * ${n}u;
  let batch = number / filter_tiles / place_tiles % u.groups;
  let split = number / filter_tiles / place_tiles / u.groups;
  let begin = split * u.depth;
  let end = min(begin + u.depth, u.channels * u.filter_height * u.filter_width);
${vectors.declare('(number % filter_tiles)')}
${b.declare}
${onUnits.declare}
  let own = min(first_place + b_row, places - 1u);
  let own_place = place_at(own / u.output_width, own % u.output_width);
  let corner = own_place.input + batch * u.input_group;
${isInside ? '' : '  let outside = outside_of(own_place.y, own_place.x);'}
${repeat(b.reads, (read) => EIGHT.map((i) => `  var ${halves(read)}_${i} = 0h;`).join('\n'))}
  var p = begin;
  ${fillTable('p')}
  workgroupBarrier();
${isByVectors ? vectors.read : singles}
${gather}
  ${EACH_STEP} {
    if ((p - begin) % ${TABLE / 2}u == 0u) { ${fillTable(`(p + ${TABLE / 2}u)`)} }
${pack}
${a.store}
${b.store}
    p += ${STEP}u;
${isByVectors ? `${vectors.advance}\n${vectors.read}` : singles}
${gather}
    workgroupBarrier();
${onUnits.products}
    workgroupBarrier();
  }

  let first_filter = a_first;
  let c_start = u.output_at + split * u.output_split + (batch * u.m + first_filter) * u.output_plane;
${onUnits.storeSums(
  width,
  /* wgsl */ `    let place = first_place + column;
    let image = place / u.image_places;
    let inner = place % u.image_places;
    let c_column = c_start + image * u.output_image + inner;`,
  storeC({
    by: 'store_c',
    at: `(c_column + row * u.output_plane) / ${width}u`,
    place: epilogue === undefined ? [] : place,
    acc: 'sum',
    checks: [`${filter} < u.m`, 'place < places'],
  }),
)}
}`,
  };
});

/** Tiles of filters x places. */
const TILES: ReadonlyMap<string, RatedMatrixTile> = new Map(
  [
    { m: 128, n: 128, piece: 64 as const, start: 10.5, each: 1.1 },
    { m: 128, n: 64, piece: 32 as const, start: 4.5, each: 0.97 },
    { m: 64, n: 128, piece: 32 as const, start: 5, each: 1.2 },
    { m: 64, n: 64, piece: 32 as const, start: 3, each: 0.94 },
  ].map((tile: RatedMatrixTile) => [idOf(tile), tile]),
);

/** The time besides the steps, where places are stored one by one, and what it adds to a step that weights are read so. */
const SINGLE_PLACES = 1.75;
const SINGLE_WEIGHTS = 0.6;
/** Taps of a range, at least. */
const MIN_DEPTH = 256;
const FLOAT_BYTES = 4;

/** Convolutions of f16 on the matrix units of a GPU. */
export const matrixConv2dTable: Conv2dTable = {
  ids: [...TILES.keys()],
  kernelsFor: (traits) => {
    const both = [false, true];
    const isClamped = !traits.checksBounds;
    return tilesOnUnits(TILES.values(), traits, TABLE_BYTES).flatMap((tile) =>
      DTYPES.flatMap((output) =>
        both.flatMap((isByVectors) =>
          both.flatMap((isWide) =>
            both.flatMap((isInside) =>
              (['full', 'edges'] as const).map((fit) =>
                matrixConv2d({ tile, output, fit, isByVectors, isWide, isInside, isClamped }),
              ),
            ),
          ),
        ),
      ),
    );
  },
  candidates: (shape, traits) => {
    const { groups, filters, channels, filterHeight, filterWidth } = shape;
    if (filters <= FEW_FILTERS || filterHeight > MAX_ROWS || filterWidth > MAX_COLUMNS) return undefined;
    const terms = channels * filterHeight * filterWidth;
    const rated = tilesOnUnits(TILES.values(), traits, TABLE_BYTES).map(({ start, each, ...tile }) => ({
      ...tile,
      start: isWideIn(shape) ? start : SINGLE_PLACES * start,
      each: terms % VECTOR === 0 ? each : (1 + (SINGLE_WEIGHTS * tile.m) / tile.n) * each,
    }));
    return bestOnUnits(rated, MIN_DEPTH, (tile) => ({
      id: idOf(tile),
      tiles: groupsOf(tile, shape),
      terms,
      entries: groups * filters * placesOf(shape),
    }));
  },
  launch: ({ shape, input, weights, output, stored, uniforms, epilogue }, variant, recorder) => {
    const { checksBounds, storageAlignment } = recorder.traits;
    const tile = shapeOf(TILES, variant);
    const { groups, filters, channels, images, outputRows, outputWidth, filterHeight, filterWidth, isPadded } = shape;
    const taps = channels * filterHeight * filterWidth;
    const depth = Math.ceil(taps / variant.splits / STEP) * STEP;
    const splits = Math.ceil(taps / depth);
    const plane = outputRows * outputWidth;
    const entries = images * groups * filters * plane;
    const { filter_at: start = 0, filter_stride: stride = 0, output_at: outputAt = 0 } = uniforms;
    const isWhole = taps % STEP === 0;
    const own =
      splits === 1 ? { span: output, at: outputAt } : { span: recorder.scratch(splits * entries * FLOAT_BYTES), at: 0 };
    const isWide = (epilogue === undefined ? isWideIn(shape) : outputWidth % 4 === 0) && own.at % 4 === 0;
    const bound = epilogue && bindEpilogue(epilogue, isWide ? 4 : 1, storageAlignment);
    const params: MatrixConv2dParams = {
      tile,
      output: splits === 1 ? stored : 'f32',
      fit: filters % tile.m === 0 && isWhole ? 'full' : 'edges',
      isByVectors: taps % VECTOR === 0 && start % VECTOR === 0,
      isWide,
      isInside: !isPadded && isWhole,
      isClamped: !checksBounds,
    };
    recorder.launch({
      kernel: matrixConv2d(params, bound?.spec),
      storage: { a: weights, input, c: own.span, ...bound?.storage },
      uniforms: {
        ...uniforms,
        m: filters,
        a_ld: stride,
        a_start: start,
        a_stride: filters * stride,
        output_at: own.at,
        alpha: 1,
        beta: 0,
        reads_c: 0,
        image_places: plane,
        depth,
        output_split: splits === 1 ? 0 : entries,
        ...bound?.uniforms,
      },
      groups: splits * groupsOf(tile, shape),
      variant: variant.id,
    });
    if (splits === 1) return;
    const bytes = BYTES_OF[stored];
    const span = slice(output, outputAt * bytes, entries * bytes);
    const c = { span, dtype: stored, ld: entries, stride: 0 };
    const sums = { splits, split_stride: entries, alpha: 1, beta: 0 };
    finish.launch(
      { m: 1, n: entries, batchCount: 1, c, beta: 0, storage: { sums: own.span }, uniforms: sums },
      recorder,
    );
  },
};

/** Returns whether each image has a whole number of four places. */
function isWideIn({ outputRows, outputWidth }: Conv2dShape): boolean {
  return (outputRows * outputWidth) % 4 === 0;
}

/** Workgroups for one range of taps. */
function groupsOf({ m, n }: MatrixTile, shape: Conv2dShape): number {
  return shape.groups * Math.ceil(shape.filters / m) * Math.ceil(placesOf(shape) / n);
}

function idOf({ m, n }: MatrixTile): string {
  return `conv2d/matrix-${m}x${n}x${STEP}`;
}

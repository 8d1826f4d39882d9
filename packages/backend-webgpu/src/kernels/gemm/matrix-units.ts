import type { DeviceTraits } from '../recorder.ts';
import { shapeOf } from '@concord/variants';
import type { ProductTable, Variant } from './family.ts';
import { launchTiles } from './launch-tiles.ts';
import {
  matrixUnitsBytes,
  type MatrixUnitsFit,
  matrixUnitsInvocations,
  type MatrixUnitsTile,
  SUBGROUP,
  UNIT,
  VECTOR,
} from './matrix-units-tile.ts';
import type { RunSpec } from '../run/run-spec.ts';
import { matrixUnits, matrixUnitsWith } from './matrix-units.wgsl.ts';
import { areFours, bindMatrix, isVector, type Matrix, type Product } from './product.ts';
import { DTYPES } from './storage-formats.ts';

/** Tiles for the matrix units, largest first. */
const TILES: ReadonlyMap<string, MatrixUnitsTile> = new Map(
  [
    { m: 128, n: 128, step: 32 as const, subgroupM: 64, subgroupN: 64 },
    { m: 64, n: 64, step: 32 as const, subgroupM: 32, subgroupN: 32 },
  ].map((tile: MatrixUnitsTile) => [idOf(tile), tile]),
);

const FITS: readonly MatrixUnitsFit[] = ['full', 'edges'];

/** Workgroups that keep a large GPU busy. */
const ENOUGH_GROUPS = 128;
/** The minimum number of terms of a split: adding the splits up is a kernel more. */
const MIN_DEPTH = 1024;

/** Products of f16 on the matrix units of a GPU, of rows that begin and end at multiples of eight. */
export const matrixUnitsTable: ProductTable = {
  ids: [...TILES.keys()],
  kernelsFor: (traits) => {
    const both = [false, true];
    return matrixUnitsTiles(traits).flatMap((tile) =>
      DTYPES.flatMap((output) =>
        both.flatMap((transA) =>
          both.flatMap((transB) => FITS.map((fit) => matrixUnits({ output, transA, transB, tile, fit }))),
        ),
      ),
    );
  },
  candidates: ({ product, depth }, traits) => {
    if (!canMultiply(product, depth, traits)) return undefined;
    const tiles = matrixUnitsTiles(traits);
    const smallest = tiles.at(-1);
    if (smallest === undefined) return undefined;
    const enough = tiles.find((tile) => groupsOf(tile, product) >= ENOUGH_GROUPS);
    return {
      variants: tiles.map((tile) => variantOf(tile, product)),
      preferred: variantOf(enough ?? smallest, product),
      condition: 'by eights',
    };
  },
  appliesEpilogues: () => true,
  launch: ({ product, splits }, variant, recorder) => {
    const tile = shapeOf(TILES, variant);
    const { m, n, k, transA, transB, c } = product;
    const isFull = m % tile.m === 0 && n % tile.n === 0 && k % tile.step === 0;
    const params = { output: c.dtype, transA, transB, tile, fit: isFull ? 'full' : 'edges' } as const;
    // Rows of C begin and end at multiples of four, or another family has it.
    const kernel = (_: boolean, epilogue: RunSpec | undefined) =>
      epilogue === undefined ? matrixUnits(params) : matrixUnitsWith(params, epilogue);
    launchTiles(product, { id: variant.id, tile, kernel }, splits, recorder);
  },
};

/** The tiles that a device has matrix units and room for, largest first. */
export function matrixUnitsTiles(traits: DeviceTraits): readonly MatrixUnitsTile[] {
  const { matrixUnits, subgroupSize, maxInvocations, maxWorkgroupBytes } = traits;
  const fits = matrixUnits.some(({ m, n, k }) => m === UNIT && n === UNIT && k === UNIT) && subgroupSize === SUBGROUP;
  if (!fits) return [];
  return [...TILES.values()].filter(
    (tile) => matrixUnitsInvocations(tile) <= maxInvocations && matrixUnitsBytes(tile) <= maxWorkgroupBytes,
  );
}

function canMultiply(product: Product, depth: number, { storageAlignment }: DeviceTraits): boolean {
  const { m, n, k, transA, transB, a, b, c } = product;
  if (a.dtype !== 'f16' || isVector(product)) return false;
  // Cut along k, each part must begin at a vector.
  if (depth < k && depth % VECTOR !== 0) return false;
  const isByVectors = (matrix: Matrix, length: number): boolean =>
    [length, bindMatrix(matrix, storageAlignment).start, matrix.ld, matrix.stride].every((x) => x % VECTOR === 0);
  return (
    isByVectors(a, transA ? m : k) &&
    isByVectors(b, transB ? k : n) &&
    areFours(n, bindMatrix(c, storageAlignment).start, c.ld, c.stride)
  );
}

function variantOf(tile: MatrixUnitsTile, product: Product): Variant {
  const groups = groupsOf(tile, product);
  const splits = Math.max(1, Math.min(Math.floor(ENOUGH_GROUPS / groups), Math.floor(product.k / MIN_DEPTH)));
  return { id: idOf(tile), splits };
}

function groupsOf(tile: MatrixUnitsTile, { m, n, batchCount }: Product): number {
  return batchCount * Math.ceil(m / tile.m) * Math.ceil(n / tile.n);
}

function idOf({ m, n, step }: MatrixUnitsTile): string {
  return `gemm/matrix-${m}x${n}x${step}`;
}

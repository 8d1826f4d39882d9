import type { DeviceTraits } from '../recorder.ts';
import type { VariantQuestion } from '@concord/variants';
import type { Variant } from './choose-variant.ts';
import { UNIT, VECTOR } from './matrix-units-side.ts';
import { matrixUnitsBytes, matrixUnitsInvocations, type MatrixUnitsTile, SUBGROUP } from './matrix-units.wgsl.ts';
import { areFours, bindMatrix, type Matrix, type Product } from './product.ts';

type MatrixUnitsVariant = Extract<Variant, { kind: 'matrix-units' }>;

/** Tiles for the matrix units, largest first. */
const TILES: readonly MatrixUnitsTile[] = [
  { m: 128, n: 128, step: 32, subgroupM: 64, subgroupN: 64 },
  { m: 64, n: 64, step: 64, subgroupM: 32, subgroupN: 32 },
];

/** Every variant on matrix units. */
export const MATRIX_UNITS_IDS: readonly string[] = TILES.map(idOf);

/** Workgroups that keep a large GPU busy. */
const ENOUGH_GROUPS = 128;
/** Least number of terms of a split: adding the splits up is a kernel more. */
const LEAST_DEPTH = 1024;

/** The tiles that a device has matrix units and room for, largest first. */
export function matrixUnitsTiles(traits: DeviceTraits): readonly MatrixUnitsTile[] {
  const { matrixUnits, subgroupSize, maxInvocations, maxWorkgroupBytes } = traits;
  const fits = matrixUnits.some(({ m, n, k }) => m === UNIT && n === UNIT && k === UNIT) && subgroupSize === SUBGROUP;
  if (!fits) return [];
  return TILES.filter(
    (tile) => matrixUnitsInvocations(tile) <= maxInvocations && matrixUnitsBytes(tile) <= maxWorkgroupBytes,
  );
}

/**
 * A choice with the variants on matrix units added, and preferred, where they can compute the product: of f16, of rows
 * that begin and end at multiples of eight.
 *
 * @param depth - terms that are worked on at a time
 */
export function withMatrixUnits(
  question: VariantQuestion<Variant>,
  product: Product,
  depth: number,
  traits: DeviceTraits,
): VariantQuestion<Variant> {
  if (!canUseMatrixUnits(product, depth, traits)) return question;
  const candidates = matrixUnitsTiles(traits).map((tile) => matrixUnitsVariant(tile, product));
  if (candidates.length === 0) return question;
  return {
    // Rows that begin elsewhere are a class of their own: no matrix unit takes them.
    shapeClass: () => `${question.shapeClass()} by eights`,
    candidates: [...candidates, ...question.candidates],
    preferred: best(product, candidates),
  };
}

function canUseMatrixUnits(product: Product, depth: number, { storageAlignment }: DeviceTraits): boolean {
  const { m, n, k, transA, transB, a, b, c } = product;
  if (a.dtype !== 'f16' || m === 1 || n === 1) return false;
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

function best(product: Product, largestFirst: readonly MatrixUnitsVariant[]): MatrixUnitsVariant {
  const enough = largestFirst.find(({ tile }) => groupsOf(tile, product) >= ENOUGH_GROUPS);
  return enough ?? (largestFirst[largestFirst.length - 1] as MatrixUnitsVariant);
}

function matrixUnitsVariant(tile: MatrixUnitsTile, product: Product): MatrixUnitsVariant {
  const groups = groupsOf(tile, product);
  const splits = Math.max(1, Math.min(Math.floor(ENOUGH_GROUPS / groups), Math.floor(product.k / LEAST_DEPTH)));
  return { id: idOf(tile), kind: 'matrix-units', tile, splits };
}

function groupsOf(tile: MatrixUnitsTile, { m, n, batchCount }: Product): number {
  return batchCount * Math.ceil(m / tile.m) * Math.ceil(n / tile.n);
}

function idOf({ m, n, step }: MatrixUnitsTile): string {
  return `gemm/matrix-${m}x${n}x${step}`;
}

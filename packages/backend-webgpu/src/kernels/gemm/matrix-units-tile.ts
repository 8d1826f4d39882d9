/** Shape of a workgroup's tile. */
export interface MatrixUnitsTile {
  /** Entries of C along m and along n. */
  readonly m: number;
  readonly n: number;
  /** Terms that are in workgroup memory at a time. */
  readonly step: number;
  /** Entries of C that one subgroup computes, along m and along n: multiples of {@link UNIT}. */
  readonly subgroupM: number;
  readonly subgroupN: number;
}

/** What is known of the shape. `full`: all sizes are multiples of the tile's. `edges`: not that. */
export type MatrixUnitsFit = 'full' | 'edges';

/** Invocations of a subgroup. */
export const SUBGROUP = 32;

/** Rows, columns and terms of the product that is one operation. */
export const UNIT = 16;
/** Elements of a vector: 16 bytes of binary16. */
export const VECTOR = 8;
/** Vectors that are left free behind each line, so that the same vector of eight neighbouring lines lies in different banks. */
export const PAD = 1;

/** Vectors in a line of a strip, the free one included, and lines. */
export function stripShape(
  size: number,
  alongK: boolean,
  step: number,
): { readonly line: number; readonly lines: number } {
  const [length, lines] = alongK ? [step, size] : [size, step];
  return { line: length / VECTOR + PAD, lines };
}

/** Invocations of a workgroup. */
export function matrixUnitsInvocations({ m, n, subgroupM, subgroupN }: MatrixUnitsTile): number {
  return (m / subgroupM) * (n / subgroupN) * SUBGROUP;
}

/** Most bytes of workgroup memory, with either operand transposed or not. */
export function matrixUnitsBytes(tile: MatrixUnitsTile): number {
  const both = [false, true];
  return 16 * Math.max(...both.flatMap((transA) => both.map((transB) => vectorsOf(tile, transA, transB))));
}

/** Vectors of workgroup memory. */
export function vectorsOf(tile: MatrixUnitsTile, transA: boolean, transB: boolean): number {
  const a = stripShape(tile.m, !transA, tile.step);
  const b = stripShape(tile.n, transB, tile.step);
  const subgroups = matrixUnitsInvocations(tile) / SUBGROUP;
  return Math.max(a.line * a.lines + b.line * b.lines, subgroups * UNIT * resultLine(tile));
}

/** Vectors of four sums in a line of results, with a free one as in the strips. */
export function resultLine({ subgroupN }: MatrixUnitsTile): number {
  return subgroupN / 4 + 1;
}

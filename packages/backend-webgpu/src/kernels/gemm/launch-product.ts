import type { Kernel } from '../kernel.ts';
import type { Recorder } from '../recorder.ts';
import type { Variant } from './choose-variant.ts';
import { DIRECT_GROUP, direct } from './direct.wgsl.ts';
import { launchMatvec } from './launch-matvec.ts';
import { matrixUnits } from './matrix-units.wgsl.ts';
import { areFours, bindMatrix, type Product } from './product.ts';
import { tiled, wholeTurn } from './tiled.wgsl.ts';

/** A product whose results for each range of k go beside each other: C of split s begins `s * stride` elements on. */
export interface Splits {
  /** Terms of a range; a multiple of 4 and of the tile's step. */
  readonly depth: number;
  readonly count: number;
  readonly stride: number;
}

/** Launches the kernel of a product whose operands fit into bindings and whose C is stored as it can be written. */
export function launchProduct(product: Product, variant: Variant, splits: Splits, recorder: Recorder): void {
  if (variant.kind === 'matvec') {
    launchMatvec(product, variant, splits, recorder);
    return;
  }
  const { m, n, k, transA, transB, alpha, beta, batchCount } = product;
  const { storageAlignment } = recorder.traits;
  const a = bindMatrix(product.a, storageAlignment);
  const b = bindMatrix(product.b, storageAlignment);
  const c = bindMatrix(product.c, storageAlignment);
  const wideA = areFours(transA ? m : k, a.start, product.a.ld, product.a.stride);
  const wideB = areFours(transB ? k : n, b.start, product.b.ld, product.b.stride);
  const wideC = areFours(n, c.start, product.c.ld, product.c.stride);

  let kernel: Kernel;
  let tileM: number;
  let tileN: number;
  if (variant.kind === 'direct') {
    const { rows, columns } = variant.tile;
    const wide = wideA && wideB && wideC;
    kernel = direct({ input: product.a.dtype, output: product.c.dtype, transA, transB, rows, columns, wide });
    tileM = rows * DIRECT_GROUP;
    tileN = columns * DIRECT_GROUP;
  } else if (variant.kind === 'matrix-units') {
    const { tile } = variant;
    const isFull = m % tile.m === 0 && n % tile.n === 0 && k % tile.step === 0;
    kernel = matrixUnits({ output: product.c.dtype, transA, transB, tile, fit: isFull ? 'full' : 'edges' });
    tileM = tile.m;
    tileN = tile.n;
  } else {
    const { tile } = variant;
    const wide = wideA && wideB && wideC;
    const isFull = m % tile.m === 0 && n % tile.n === 0 && k % wholeTurn(tile) === 0;
    const fit = wide ? (isFull ? 'full' : 'wide') : 'any';
    kernel = tiled({ input: product.a.dtype, output: product.c.dtype, transA, transB, tile, fit });
    tileM = tile.m;
    tileN = tile.n;
  }
  const tilesN = Math.ceil(n / tileN);
  const tiles = Math.ceil(m / tileM) * tilesN;
  recorder.launch({
    kernel,
    storage: { a: a.span, b: b.span, c: c.span },
    uniforms: {
      m,
      n,
      k,
      a_ld: product.a.ld,
      b_ld: product.b.ld,
      c_ld: product.c.ld,
      a_start: a.start,
      b_start: b.start,
      c_start: c.start,
      a_stride: product.a.stride,
      b_stride: product.b.stride,
      c_stride: product.c.stride,
      batches: batchCount,
      depth: splits.depth,
      c_split: splits.stride,
      tiles_n: tilesN,
      tiles,
      alpha,
      beta,
      reads_c: Number(beta !== 0),
    },
    groups: tiles * batchCount * splits.count,
    variant: variant.id,
  });
}

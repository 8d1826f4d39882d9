import type { Launch, Recorder } from '../recorder.ts';
import type { Variant } from './choose-variant.ts';
import { DIRECT_GROUP, direct } from './direct.wgsl.ts';
import { launchMatvec } from './launch-matvec.ts';
import { areFours, bindMatrix, type BoundMatrix, type Product } from './product.ts';
import type { OperandParams } from './product-kernel.ts';
import { type Fit, tiled } from './tiled.wgsl.ts';

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
    launchMatvec(product, variant.team, splits, recorder);
    return;
  }
  const { m, n, k, transA, transB, alpha, beta, batchCount } = product;
  const { storageAlignment } = recorder.traits;
  const a = bindMatrix(product.a, storageAlignment);
  const b = bindMatrix(product.b, storageAlignment);
  const c = bindMatrix(product.c, storageAlignment);
  const wide =
    areFours(transA ? m : k, transB ? k : n, n, a.start, b.start, c.start) &&
    [product.a, product.b, product.c].every(({ ld, stride }) => areFours(ld, stride));
  const params: OperandParams = { input: product.a.dtype, output: product.c.dtype, transA, transB };

  const kernelAndTile = (): { readonly kernel: Launch['kernel']; readonly tileM: number; readonly tileN: number } => {
    if (variant.kind === 'direct') {
      const { rows, columns } = variant.tile;
      const kernel = direct({ ...params, rows, columns, wide });
      return { kernel, tileM: rows * DIRECT_GROUP, tileN: columns * DIRECT_GROUP };
    }
    const { tile } = variant;
    const isFull = m % tile.m === 0 && n % tile.n === 0 && k % tile.step === 0;
    const fit: Fit = wide ? (isFull ? 'full' : 'wide') : 'any';
    return { kernel: tiled({ ...params, tile, fit }), tileM: tile.m, tileN: tile.n };
  };
  const { kernel, tileM, tileN } = kernelAndTile();
  const tilesN = Math.ceil(n / tileN);
  const tiles = Math.ceil(m / tileM) * tilesN;
  recorder.launch({
    kernel,
    storage: { a: a.span, b: b.span, c: c.span },
    uniforms: {
      m,
      n,
      k,
      ...placeOf('a', a, product.a),
      ...placeOf('b', b, product.b),
      ...placeOf('c', c, product.c),
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
  });
}

function placeOf(
  name: string,
  { start }: BoundMatrix,
  { ld, stride }: { readonly ld: number; readonly stride: number },
): Readonly<Record<string, number>> {
  return { [`${name}_ld`]: ld, [`${name}_start`]: start, [`${name}_stride`]: stride };
}

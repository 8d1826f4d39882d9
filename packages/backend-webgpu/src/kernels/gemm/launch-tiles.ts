import { bindEpilogue } from '../epilogue/fused-epilogue.ts';
import type { Kernel } from '../kernel.ts';
import type { RunSpec } from '../run/run-spec.ts';
import type { Recorder } from '../recorder.ts';
import type { Splits } from './family.ts';
import { areFours, bindMatrix, elementBytes, type Product } from './product.ts';

/** A kernel with the uniforms of `product-kernel.ts`, and the tile of C that each of its workgroups computes. */
export interface TileLaunch {
  /** Of the variant. */
  readonly id: string;
  readonly tile: { readonly m: number; readonly n: number };
  /** @param isWide - whether every row of A, B and C begins and ends at a multiple of four elements of its binding */
  readonly kernel: (isWide: boolean, epilogue: RunSpec | undefined) => Kernel;
}

/** Launches a kernel that computes C tile by tile. */
export function launchTiles(
  product: Product,
  { id, tile, kernel }: TileLaunch,
  splits: Splits,
  recorder: Recorder,
): void {
  const { m, n, k, transA, transB, alpha, beta, batchCount, epilogue } = product;
  const { storageAlignment } = recorder.traits;
  const a = bindMatrix(product.a, storageAlignment);
  const b = bindMatrix(product.b, storageAlignment);
  const c = bindMatrix(product.c, storageAlignment);
  const isWide =
    areFours(transA ? m : k, a.start, product.a.ld, product.a.stride) &&
    areFours(transB ? k : n, b.start, product.b.ld, product.b.stride) &&
    areFours(n, c.start, product.c.ld, product.c.stride);
  const bound = epilogue === undefined ? undefined : bindEpilogue(epilogue, isWide ? 4 : 1, storageAlignment);
  const tilesN = Math.ceil(n / tile.n);
  const tiles = Math.ceil(m / tile.m) * tilesN;
  recorder.launch({
    kernel: kernel(isWide, bound?.spec),
    storage: { a: a.span, b: b.span, c: c.span, ...bound?.storage },
    moving: { c: ['c_start', elementBytes(product.c.dtype)] },
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
      ...bound?.uniforms,
    },
    groups: tiles * batchCount * splits.count,
    variant: id,
  });
}

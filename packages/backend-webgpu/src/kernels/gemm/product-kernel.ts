import { ofType } from '@concord/variants';
import type { FloatDType } from '@concord/backend-core';
import { BYTES_OF } from '@concord/backend-core/implement';
import { withEpilogue } from '../epilogue/epilogue-code.ts';
import { defineKernel, type Kernel, kernelOfGraph, type KernelSource, type UniformType, variants } from '../kernel.ts';
import type { DeviceTraits, Recorder } from '../recorder.ts';
import type { RunSpec } from '../run/run-spec.ts';
import { DTYPES, type OutputFormat } from './storage-formats.ts';
import { bindEpilogue } from '../epilogue/fused-epilogue.ts';
import { areFours, bindMatrix, type Product, type Splits } from './product.ts';

/** The parameters that distinguish the kernels of a product, besides their tiles. */
export interface OperandParams {
  /** Storage of A and B. */
  readonly input: FloatDType;
  /** Storage of C, or of the sums that stand in for it. */
  readonly output: Exclude<OutputFormat, 'half-words'>;
  readonly transA: boolean;
  readonly transB: boolean;
}

/** The kernel for some parameters, and for the epilogue that is in it, if any: the same one each time. */
export type ProductKernel<Params, Epilogue extends RunSpec = RunSpec> = (params: Params, epilogue?: Epilogue) => Kernel;

/** A {@link ProductKernel} by its source, without the epilogue's bindings, uniforms and parameters. */
export function productKernel<Params extends object, Epilogue extends RunSpec = RunSpec>(
  family: string,
  sourceOf: (params: Params, epilogue?: Epilogue) => KernelSource,
): ProductKernel<Params, Epilogue> {
  const plain = variants((params: Params) => defineKernel(sourceOf(params)));
  const fused = (params: Params, epilogue: Epilogue): Kernel =>
    defineKernel(withEpilogue(epilogue, sourceOf(params, epilogue)));
  return (params, epilogue) =>
    epilogue === undefined
      ? plain(params)
      : kernelOfGraph(family, { ...epilogue, ...params }, () => fused(params, epilogue));
}

/** Every storage of inputs and results on a device: results of f16 may be sums in float32. */
export function storagesOn({ hasF16 }: DeviceTraits): readonly Pick<OperandParams, 'input' | 'output'>[] {
  const always = DTYPES.map((input) => ({ input, output: 'f32' as const }));
  return hasF16 ? [...always, { input: 'f16', output: 'f16' }] : always;
}

/** Every {@link OperandParams} on a device. */
export function operandParams(traits: DeviceTraits): readonly OperandParams[] {
  const both = [false, true];
  return storagesOn(traits).flatMap((storage) =>
    both.flatMap((transA) => both.map((transB) => ({ ...storage, transA, transB }))),
  );
}

/** Uniforms of the kernels of a product. Sizes, leading dimensions, starts and strides count elements. */
export const PRODUCT_UNIFORMS: Readonly<Record<string, UniformType>> = {
  ...ofType('u32', 'm n k a_ld b_ld c_ld a_start b_start c_start a_stride b_stride c_stride batches'),
  // Terms of a sum in each split, and elements between the results of two splits.
  ...ofType('u32', 'depth c_split'),
  // Tiles in a row of C, and in C.
  ...ofType('u32', 'tiles_n tiles'),
  ...ofType('f32', 'alpha beta'),
  reads_c: 'u32',
};

/** WGSL: finds, from the number of the workgroup, that of its tile of C, its matrix of the batch and its range of k. */
export const PART_OF_GROUP: string = /* wgsl */ `
  let group = group_index(id, grid);
  if (group >= u.group_count) { return; }
  let tile = group % u.tiles;
  let batch = (group / u.tiles) % u.batches;
  let split = group / u.tiles / u.batches;
  let begin = split * u.depth;
  let end = min(begin + u.depth, u.k);
`;

/**
 * WGSL: {@link PART_OF_GROUP}, and the place of the tile. Tiles of one row are neighbours, so that groups that run together
 * share rows of A.
 */
export const PLACE_OF_GROUP: string = /* wgsl */ `${PART_OF_GROUP}
  let tile_row = tile / u.tiles_n;
  let tile_column = tile % u.tiles_n;
`;

/** Parameters in a kernel's name, such as `f16 NT`. */
export function nameOf({ input, output, transA, transB }: OperandParams): string {
  const formats = input === output ? input : `${input}-${output}`;
  return `${formats} ${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}`;
}

/** A kernel with the uniforms of `product-kernel.ts`, and the tile of C that each of its workgroups computes. */
export interface TileLaunch {
  /** The id of the variant. */
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
    moving: { c: ['c_start', BYTES_OF[product.c.dtype]] },
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

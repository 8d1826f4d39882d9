import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { copiedTo, type OutOption } from '../compute/produce.ts';
import { partedSides, partedTriple, type Sides3, type Triple } from '../convolution/triple.ts';
import { checkOptions, checkTensor } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { reshape } from '../views/reshape.ts';
import { pool, POOL_OPTIONS, type PoolKind } from './pool.ts';

/** Options of {@link maxPool3d}. */
export interface Pool3dOptions extends OutOption {
  /** Default: the size of the window. */
  readonly stride?: Triple;
  /** The padding around each volume, less than a window is wide. Default 0. */
  readonly padding?: Sides3;
  /** Distance of the elements that a window takes. Default 1. */
  readonly dilation?: Triple;
  /** True if windows may reach beyond the padded volume, which gives more of them. Default false. */
  readonly ceilMode?: boolean;
}

/** Options of {@link avgPool3d}. */
export interface AvgPool3dOptions extends Pool3dOptions {
  /** True if the zeros of the padding count. Default true. */
  readonly countIncludePad?: boolean;
}

/**
 * The greatest element of each window of `[n, c, d, h, w]`, as max_pool3d of PyTorch: of each plane, then along the depth. Two
 * launches.
 *
 * @param kernelSize - of the window
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [1, 8, 3, 4, 5, 6, 7, 2], [1, 1, 2, 2, 2]);
 * await maxPool3d(x, [1, 2, 2]).toArray(); // [8, 7]
 * await maxPool3d(x, 2).toArray(); // [8]
 * ```
 */
export function maxPool3d(x: Tensor, kernelSize: Triple, options: Pool3dOptions = {}): Tensor {
  return pool3d('maxPool3d', 'max', x, kernelSize, options);
}

/**
 * The mean of each window of `[n, c, d, h, w]`, as avg_pool3d of PyTorch: of each plane, then along the depth. Two launches.
 *
 * @param kernelSize - of the window
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [1, 8, 3, 4, 5, 6, 7, 2], [1, 1, 2, 2, 2]);
 * await avgPool3d(x, 2).toArray(); // [4.5]
 * ```
 */
export function avgPool3d(x: Tensor, kernelSize: Triple, options: AvgPool3dOptions = {}): Tensor {
  return pool3d('avgPool3d', 'mean', x, kernelSize, options);
}

function pool3d(op: string, kind: PoolKind, x: Tensor, kernelSize: Triple, options: AvgPool3dOptions): Tensor {
  checkTensor(op, 'x', x);
  checkOptions(op, options, POOL_OPTIONS[kind]);
  if (x.rank !== 5 || ELEMENT_TYPES[x.dtype].value !== 'f32') {
    throw refuse(op, `takes f32, f16 or bf16 [n, c, d, h, w], got ${x.dtype}${shapeText(x.shape)}`);
  }
  const [n, c, depth, height, width] = x.shape as readonly [number, number, number, number, number];
  const { stride = kernelSize, padding = 0, dilation = 1, out, ...others } = options;
  const kernel = partedTriple(op, 'the size of the window', kernelSize);
  const [strides, dilations] = [partedTriple(op, 'stride', stride), partedTriple(op, 'dilation', dilation)];
  const sides = partedSides(op, padding);
  const along = (part: 'depth' | 'planes') => {
    return { ...others, stride: strides[part], padding: sides[part], dilation: dilations[part] };
  };
  return tidy(() => {
    // A mean of means is rounded once.
    const dtype = kind === 'mean' ? 'f32' : x.dtype;
    const planes = reshape(x, [n, c * depth, height, width]);
    const inPlanes = pool(op, kind, planes, kernel.planes, along('planes'), dtype);
    const [, , p, q] = inPlanes.shape as readonly [number, number, number, number];
    const lines = reshape(inPlanes, [n, c, depth, p * q]);
    const pooled = pool(op, kind, lines, kernel.depth, along('depth'), x.dtype);
    return copiedTo(op, reshape(pooled, [n, c, pooled.shape[2] as number, p, q]), out);
  });
}

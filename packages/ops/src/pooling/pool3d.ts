import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { copiedTo, type OutOption } from '../compute/produce.ts';
import { partedSides, partedTriple, type Sides3, type Triple } from '../convolution/triple.ts';
import { allocate } from '../tensor/allocate.ts';
import { checkOptions, checkTensor, type OptionKinds } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { reshape } from '../views/reshape.ts';
import { pool, POOL_OPTIONS, type PooledMax, type PoolKind, poolWithIndices, WINDOW } from './pool.ts';

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

/**
 * Returns {@link maxPool3d}, and the place of each maximum in its volume, `(depth * h + row) * w + column` as u32: of
 * several equal ones the first, and a NaN if there is one. Three launches.
 *
 * @param kernelSize - of the window
 * @param options - without `out`
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [1, 8, 3, 4, 5, 6, 7, 2], [1, 1, 2, 2, 2]);
 * const { values, indices } = maxPool3dWithIndices(x, [2, 1, 2]);
 * await values.toArray(); // [8, 7]
 * await indices.toArray(); // [1, 6]
 * ```
 */
export function maxPool3dWithIndices(
  x: Tensor,
  kernelSize: Triple,
  options: Omit<Pool3dOptions, 'out'> = {},
): PooledMax {
  const op = 'maxPool3dWithIndices';
  const { sizes, kernel, along } = partsOf(op, x, kernelSize, options, WINDOW);
  const [n, c, depth, height, width] = sizes;
  return tidy(() => {
    const planes = reshape(x, [n, c * depth, height, width]);
    const inPlanes = poolWithIndices(op, planes, kernel.planes, along('planes'));
    const [, , p, q] = inPlanes.values.shape as readonly [number, number, number, number];
    const lines = reshape(inPlanes.values, [n, c, depth, p * q]);
    const { values, indices } = poolWithIndices(op, lines, kernel.depth, along('depth'));
    const whole = allocate(op, x.backend, indices.shape, 'u32');
    const inputs = { line: indices.ptr, inPlane: { ptr: inPlanes.indices.ptr, shape: [n, c, depth * p * q] } };
    const params = { places: p * q, plane: height * width };
    const call = { shape: indices.shape, inputs, params, outputs: { y: whole.ptr } };
    launch(op, [x], () => launchKernel(x.backend, wholePlaces, call));
    const shape = [n, c, values.shape[2] as number, p, q];
    return { values: reshape(values, shape), indices: reshape(whole, shape) };
  });
}

/** Places in volumes, of those along the depth among all places of the planes and those in the planes. */
const wholePlaces: Kernel = defineKernel(
  'max-pool places',
  {
    inputs: { line: 'u32', inPlane: { type: 'u32', access: 'gather', rank: 3 } },
    params: { places: 'u32', plane: 'u32' },
  },
  ({ line, inPlane, places, plane }, k) => ({
    y: k.add(k.mul(k.div(line, places), plane), k.gather(inPlane, [k.index(0), k.index(1), line], 0)),
  }),
);

function pool3d(op: string, kind: PoolKind, x: Tensor, kernelSize: Triple, options: AvgPool3dOptions): Tensor {
  const { sizes, kernel, along } = partsOf(op, x, kernelSize, options, POOL_OPTIONS[kind]);
  const [n, c, depth, height, width] = sizes;
  return tidy(() => {
    // A mean of means is rounded once.
    const dtype = kind === 'mean' ? 'f32' : x.dtype;
    const planes = reshape(x, [n, c * depth, height, width]);
    const inPlanes = pool(op, kind, planes, kernel.planes, along('planes'), dtype);
    const [, , p, q] = inPlanes.shape as readonly [number, number, number, number];
    const lines = reshape(inPlanes, [n, c, depth, p * q]);
    const pooled = pool(op, kind, lines, kernel.depth, along('depth'), x.dtype);
    return copiedTo(op, reshape(pooled, [n, c, pooled.shape[2] as number, p, q]), options.out);
  });
}

/** The sizes of `x`, the window, and the options, along the depth and in the planes. */
function partsOf(op: string, x: Tensor, kernelSize: Triple, options: AvgPool3dOptions, kinds: OptionKinds) {
  checkTensor(op, 'x', x);
  checkOptions(op, options, kinds);
  if (x.rank !== 5 || ELEMENT_TYPES[x.dtype].value !== 'f32') {
    throw refuse(op, `takes f32, f16 or bf16 [n, c, d, h, w], got ${x.dtype}${shapeText(x.shape)}`);
  }
  const { stride = kernelSize, padding = 0, dilation = 1, out: _, ...others } = options;
  const kernel = partedTriple(op, 'the size of the window', kernelSize);
  const [strides, dilations] = [partedTriple(op, 'stride', stride), partedTriple(op, 'dilation', dilation)];
  const sides = partedSides(op, padding);
  const along = (part: 'depth' | 'planes') => {
    return { ...others, stride: strides[part], padding: sides[part], dilation: dilations[part] };
  };
  return { sizes: x.shape as readonly [number, number, number, number, number], kernel, along };
}

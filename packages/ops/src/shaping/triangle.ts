import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type NumberType, type Value } from '@concord/backend-core/kernel';
import { viewOver } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { type Plan, planRun, Plans, producePlanned } from '../compute/plans.ts';
import { checkOut, type OutOption } from '../compute/produce.ts';
import { OUT, checkOptions, checkTensor } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { denseLayout } from '../tensor/layout.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Options of {@link triu} and {@link tril}. */
export interface TriangleOptions extends OutOption {
  /** The last diagonal that is kept: 0 the main one, above 0 one above it. Default 0. */
  readonly diagonal?: number;
}

/**
 * The elements of matrices on a diagonal and above it, zeros below, as NumPy's triu and Trilu of ONNX. One launch.
 *
 * @param x - `[..., m, n]`
 * @throws {BackendError} INVALID_ARGUMENT for fewer than two axes, and a diagonal that is not an integer
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 2], [3, 4]]);
 * await triu(x).toArray(); // [1, 2, 0, 4]
 * await triu(x, { diagonal: 1 }).toArray(); // [0, 2, 0, 0]
 * ```
 */
export function triu(x: Tensor, options: TriangleOptions = {}): Tensor {
  return triangle('triu', x, options);
}

/**
 * The elements of matrices on a diagonal and below it, zeros above, as NumPy's tril and Trilu of ONNX. One launch.
 *
 * @param x - `[..., m, n]`
 * @throws {BackendError} INVALID_ARGUMENT for fewer than two axes, and a diagonal that is not an integer
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 2], [3, 4]]);
 * await tril(x).toArray(); // [1, 0, 3, 4]
 * await tril(x, { diagonal: -1 }).toArray(); // [0, 0, 3, 0]
 * ```
 */
export function tril(x: Tensor, options: TriangleOptions = {}): Tensor {
  return triangle('tril', x, options);
}

const plans = new Plans<Plan>();
const kernels = new Kernels();
/** No diagonal is as far from the main one. */
const FAR = 2 ** 31 - 1;

function triangle(op: 'triu' | 'tril', x: Tensor, options: TriangleOptions): Tensor {
  checkTensor(op, 'x', x);
  checkOptions(op, options, { ...OUT, diagonal: 'number' });
  const { diagonal = 0, out } = options;
  if (x.rank < 2) throw refuse(op, `takes matrices [..., m, n], got ${x.dtype}${shapeText(x.shape)}`);
  if (!Number.isInteger(diagonal)) {
    throw refuse(op, `diagonal of ${shapeText(x.shape)} must be an integer, got ${diagonal}`);
  }
  const plan = plans.of(x.backend, [op, x.layout.id, out === undefined ? 0 : out.layout.id], () => {
    const { shape, dtype } = x;
    checkOut(op, out, shape, dtype);
    const result = out?.layout ?? denseLayout(shape, dtype);
    const kernel = kernelOf(op, ELEMENT_TYPES[dtype].value);
    const views = { inputs: { x: viewOver(x, shape) }, outputs: { y: viewOver(result, shape) } };
    return planRun(op, x.backend, [x], result, { kernel, shape, ...views });
  });
  return producePlanned(op, x.backend, plan, [x], out, [Math.min(FAR, Math.max(-FAR, diagonal))]);
}

function kernelOf(op: 'triu' | 'tril', type: NumberType): Kernel {
  return kernels.of(`${op} ${type}`, () => {
    return defineKernel(op, { inputs: { x: type }, params: { diagonal: 'i32' } }, ({ x, diagonal }, k) => {
      const place = k.sub(k.toI32(k.index(-1)), k.toI32(k.index(-2)));
      const isKept = op === 'triu' ? k.ge(place, diagonal) : k.le(place, diagonal);
      return { y: k.select(isKept, x as Value<'f32'>, 0) };
    }) as Kernel;
  });
}

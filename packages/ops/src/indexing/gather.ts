import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type GatherInput,
  type GatherOperand,
  type Kernel,
  type NumberType,
  type RunOperand,
  type Value,
} from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { Kernels } from '../compute/kernels.ts';
import { checkSameBackend, type OutOption, produce } from '../compute/produce.ts';
import { checkAxis, ROWS } from '../compute/rows.ts';
import { OUT, checkOptions, checkTensors } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { sizeOf } from '../tensor/shape.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { reshape } from '../views/reshape.ts';

/** Options of {@link gather}. */
export interface GatherOptions extends OutOption {
  /** The axis that is indexed. Default 0. */
  readonly axis?: number;
}

/**
 * Parts of a tensor by index along an axis, as `take` of NumPy and Gather of ONNX: the axis becomes the axes of
 * `indices`, i32 or u32. What is outside of the axis, negative indices too, reads as 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range, and indices of another type
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 2], [3, 4], [5, 6]]);
 * const indices = tensor(backend, [2, 0], [2], { dtype: 'i32' });
 * await gather(x, indices).toArray(); // [5, 6, 1, 2]
 * ```
 */
export function gather(x: Tensor, indices: Tensor, options: GatherOptions = {}): Tensor {
  checkTensors('gather', { x, indices });
  checkOptions('gather', options, ROWS);
  return take('gather', x, indices, checkAxis('gather', x.shape, options.axis ?? 0), options);
}

/**
 * Rows of a table by index: {@link gather} along axis 0, as PyTorch's embedding.
 *
 * @param indices - i32 or u32, of any shape
 * @param table - `[rows, columns]`
 * @throws {BackendError} INVALID_ARGUMENT for a table that is no matrix, and indices of another type
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const table = tensor(backend, [[1, 2], [3, 4]]);
 * await embedding(tensor(backend, new Uint32Array([1, 1])), table).toArray(); // [3, 4, 3, 4]
 * ```
 */
export function embedding(indices: Tensor, table: Tensor, options: OutOption = {}): Tensor {
  checkTensors('embedding', { indices, table });
  checkOptions('embedding', options, OUT);
  if (table.rank !== 2) throw refuse('embedding', `table must be [rows, columns], got ${shapeText(table.shape)}`);
  return take('embedding', table, indices, 0, options);
}

function take(op: string, x: Tensor, indices: Tensor, axis: number, options: OutOption): Tensor {
  checkSameBackend(op, x.backend, [indices]);
  const type = ELEMENT_TYPES[indices.dtype].value;
  if (type === 'f32') {
    throw refuse(op, `indices must be i32 or u32, got ${indices.dtype}${shapeText(indices.shape)}`, {
      hint: "cast(indices, 'i32')",
    });
  }
  const before = x.shape.slice(0, axis);
  const after = x.shape.slice(axis + 1);
  const shape = [...before, ...indices.shape, ...after];
  if (shape.length > 8) throw refuse(op, `${shapeText(x.shape)} by ${shapeText(indices.shape)} has more than 8 axes`);
  return produce(op, x.backend, shape, x.dtype, options, (result) => {
    if (!result.isDense) throw refuse(op, `out ${shapeText(result.shape)} must be dense`);
    tidy(() => {
      // A gather input has at most 4 axes: those before and after are taken together.
      const source = reshape(x, [sizeOf(before), x.shape[axis] as number, sizeOf(after)]);
      const list = reshape(indices, [sizeOf(indices.shape)]);
      const { ptr, strides, dtype } = source;
      launch(op, [x, indices], () => {
        const inputs: Record<string, RunOperand | GatherOperand> = {
          x: { ptr, strides, dtype, shape: source.shape },
          indices: { ptr: list.ptr, dtype: list.dtype, strides: [0, list.strides[0] as number, 0] },
        };
        launchKernel(x.backend, kernelOf(ELEMENT_TYPES[x.dtype].value, type), {
          shape: [sizeOf(before), list.size, sizeOf(after)],
          inputs,
          outputs: { y: { ptr: result.ptr, dtype: result.dtype } },
        });
      });
    });
  });
}

const kernels = new Kernels();

function kernelOf(of: NumberType, by: 'i32' | 'u32'): Kernel {
  return kernels.of(`${of} ${by}`, () => {
    const inputs = { x: { type: of, access: 'gather', rank: 3 }, indices: by } as const;
    return defineKernel('gather', { inputs }, ({ x, indices }, k) => ({
      y: k.gather(x as GatherInput<'f32'>, [k.index(0), indices as Value<'i32'>, k.index(2)], 0),
    })) as Kernel;
  });
}

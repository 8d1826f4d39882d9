import { type OutOption, produceRows } from '../compute/produce.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { broadcastShapes, broadcastStrides, reshapedStrides, sameShape, sizeOf } from '../tensor/shape.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { pack } from '../views/pack.ts';
import { type Activation, epilogueKernel } from './activation.ts';
import { checkProduct, readable } from './matmul.ts';
import { type Matrices, multiply } from './product.ts';

/** Options of {@link linear}. */
export interface LinearOptions extends OutOption {
  /** `[out]`, added to each row. */
  readonly bias?: Tensor | undefined;
  /** What the sum goes through. Default: nothing. */
  readonly activation?: Activation | undefined;
  /** `[..., out]`, added at the end; it may be `out`. */
  readonly residual?: Tensor | undefined;
}

/**
 * `activation(x W^T + bias) + residual` in one launch, as PyTorch's linear: `x` is `[..., in]`, `weight` `[out, in]`, the
 * result `[..., out]`. A weight stored `[in, out]`, as GPT-2's are, goes in as `transpose(weight)`, which copies nothing.
 * f32, or f16 with sums in float32.
 *
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit, and element types that differ
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 2]]);
 * const weight = tensor(backend, [[1, 1], [1, -1], [0, 2]]);
 * await linear(x, weight, { bias: tensor(backend, [1, 0, 0]), activation: 'relu' }).toArray(); // [4, 0, 4]
 * ```
 */
export function linear(x: Tensor, weight: Tensor, options: LinearOptions = {}): Tensor {
  const { bias, activation, residual } = options;
  const [n = 0, k = 0] = weight.shape;
  const leading = x.shape.slice(0, -1);
  const shape = [...leading, n];
  const operands = [x, weight, bias, residual].filter((each) => each !== undefined);
  const dtype = checkProduct('linear', operands);
  checkSizes(x, weight, bias, residual, shape);
  const kernel = epilogueKernel('linear', bias !== undefined, activation, residual !== undefined);
  return produceRows('linear', x.backend, shape, dtype, options, (result) => {
    if (result.size === 0) return;
    tidy(() => {
      const own = readable(weight);
      const [row = 0, column = 0] = own.strides;
      const rows = rowsOf(x, result, residual);
      const inputs: Record<string, Matrices> = {};
      if (bias !== undefined)
        inputs['bias'] = { ptr: bias.ptr, batch: rows.repeated, row: 0, column: bias.strides[0] ?? 1 };
      if (residual !== undefined) inputs['residual'] = rows.matrices(residual, shape);
      launch('linear', operands, () => {
        multiply(x.backend, {
          ...{ batch: rows.batch, m: rows.m, n, k, dtype },
          a: rows.matrices(rows.x, x.shape),
          b: { ptr: own.ptr, batch: rows.repeated, row: column, column: row },
          c: rows.matrices(result, shape),
          epilogue: kernel === undefined ? undefined : { kernel, inputs },
        });
      });
    });
  });
}

function checkSizes(
  x: Tensor,
  weight: Tensor,
  bias: Tensor | undefined,
  residual: Tensor | undefined,
  shape: readonly number[],
): void {
  const [n = 0, k = 0] = weight.shape;
  if (weight.rank !== 2 || x.rank === 0 || x.shape.at(-1) !== k) {
    throw refuse(
      'linear',
      `x ${shapeText(x.shape)} does not fit weight ${shapeText(weight.shape)}, which is [out, in]`,
    );
  }
  if (bias !== undefined && !sameShape(bias.shape, [n])) {
    throw refuse('linear', `bias must be [${n}] for weight ${shapeText(weight.shape)}, got ${shapeText(bias.shape)}`);
  }
  const both = residual === undefined ? shape : broadcastShapes(residual.shape, shape);
  if (both === undefined || !sameShape(both, shape)) {
    throw refuse('linear', `residual ${shapeText(residual?.shape ?? [])} does not broadcast to ${shapeText(shape)}`);
  }
}

/** The rows of the operands: all in one matrix where they lie evenly in each of them, else with batch axes. */
interface Rows {
  readonly m: number;
  readonly batch: readonly number[];
  /** The strides of what is the same in each batch. */
  readonly repeated: readonly number[];
  readonly x: Tensor;
  readonly matrices: (tensor: Tensor, shape: readonly number[]) => Matrices;
}

function rowsOf(x: Tensor, result: Tensor, residual: Tensor | undefined): Rows {
  const leading = x.shape.slice(0, -1);
  const m = sizeOf(leading);
  // A row of x must be dense, as a product reads it, unless its columns are.
  const own = x.strides.at(-1) === 1 || x.shape.at(-1) === 1 ? x : pack(x);
  const flat = (tensor: Tensor): number | undefined => {
    const strides = broadcastStrides(tensor.shape, tensor.strides, [...leading, tensor.shape.at(-1) as number]);
    return reshapedStrides(leading, strides.slice(0, -1), [m])?.[0];
  };
  const together = [own, result, residual].every((each) => each === undefined || flat(each) !== undefined);
  if (together) {
    const matrices = (tensor: Tensor): Matrices => {
      return { ptr: tensor.ptr, batch: [], row: flat(tensor) as number, column: tensor.strides.at(-1) as number };
    };
    return { m, batch: [], repeated: [], x: own, matrices };
  }
  const batch = leading.slice(0, -1);
  const matrices = (tensor: Tensor, shape: readonly number[]): Matrices => {
    const strides = broadcastStrides(tensor.shape, tensor.strides, shape);
    const [row = 0, column = 0] = strides.slice(-2);
    return { ptr: tensor.ptr, batch: strides.slice(0, -2), row, column };
  };
  return { m: leading.at(-1) as number, batch, repeated: batch.map(() => 0), x: own, matrices };
}

import type { OutOption } from '../compute/produce.ts';
import type { QuantizedTensor } from '../quantized/quantized-tensor.ts';
import { checkOptions, OUT } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { split } from '../views/slice.ts';
import { type Activation, finished } from './activation.ts';
import { joinedProduct } from './linear.ts';

/** Options of {@link swiglu}. */
export interface SwigluOptions extends OutOption {
  /** The activation of the gate. `'gelu'` makes it GEGLU, `'relu'` ReGLU, `'sigmoid'` GLU. Default `'silu'`. */
  readonly activation?: Activation | undefined;
}

/**
 * `silu(x gate^T) (x up^T)`, the gated product of Llama's feed-forward layers: `x` is `[..., in]`, `gate` and `up` are `[out, in]`
 * as the weights of {@link linear}, also of other types and quantized, the result is `[..., out]`. Two launches: the second product
 * multiplies by the first as it stores. With `null` for `up`, `gate` is both, `[2 out, in]`, the gate's rows first: one product,
 * which is faster for few rows.
 *
 * Shazeer, GLU variants improve transformer, 2020.
 *
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit, element types that differ, an unknown activation, an odd number of
 *   rows that are both
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 2]]);
 * const [gate, up] = [tensor(backend, [[2, 0], [0, 1]]), tensor(backend, [[1, 1], [1, -1]])];
 * await swiglu(x, gate, up).toArray(); // [5.2848, -1.7616]
 * ```
 */
export function swiglu(
  x: Tensor,
  gate: Tensor | QuantizedTensor,
  up: Tensor | QuantizedTensor | null,
  options: SwigluOptions = {},
): Tensor {
  checkOptions('swiglu', options, { ...OUT, activation: 'any' });
  const { activation = 'silu', out } = options;
  return tidy(() => {
    if (up === null) {
      const both = joinedProduct('swiglu', x, gate, {}, 'mul');
      const rows = both.shape.at(-1) as number;
      if (rows % 2 !== 0) throw refuse('swiglu', `gate and up together must have an even number of rows, got ${rows}`);
      const [acc, residual] = split(both, 2, -1) as [Tensor, Tensor];
      return finished('swiglu', acc, { activation, residual, joined: 'mul', out });
    }
    const residual = joinedProduct('swiglu', x, up, {}, 'mul');
    return joinedProduct('swiglu', x, gate, { activation, residual, out }, 'mul');
  });
}

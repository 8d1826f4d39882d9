import { concat } from '../shaping/concat.ts';
import { checkList } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { QuantizedTensor } from './quantized-tensor.ts';

/**
 * Quantized weights `[n, k]` of one kind, one below the other: one product in place of several of the same operand. Each is copied once.
 *
 * @throws {BackendError} INVALID_ARGUMENT for no weights, and for weights of different element types, blocks, k, zeros or offsets
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const [a, b] = [[[127, -64]], [[2, 127]]].map((each) => quantizeWeight(tensor(backend, each), { block: 2 }));
 * await linear(tensor(backend, [[1, 10]]), concatWeights([a, b])).toArray(); // [-513, 1272]
 * ```
 */
export function concatWeights(weights: readonly QuantizedTensor[]): QuantizedTensor {
  const op = 'concatWeights';
  checkList(op, 'weights', weights);
  const [first] = weights;
  if (first === undefined || weights.some((each) => !(each instanceof QuantizedTensor)))
    throw refuse(op, 'takes a list of quantized weights, at least one');
  const other = weights.find((each) => !isAlike(first, each));
  if (other !== undefined) throw refuse(op, `${describe(other)} is of another kind than ${describe(first)}`);
  const rows = weights.reduce((sum, { shape }) => sum + shape[0], 0);
  const all = (part: 'data' | 'scales' | 'zeros' | 'offsets'): Tensor | undefined =>
    first[part] === undefined ? undefined : concat(weights.map((each) => each[part] as Tensor));
  return tidy(() => {
    const parts = { zeros: all('zeros'), offsets: all('offsets') };
    const { dtype, block } = first;
    const form = { shape: [rows, first.shape[1]] as const, dtype, block };
    return new QuantizedTensor(form, { data: all('data') as Tensor, scales: all('scales') as Tensor, ...parts });
  });
}

/** Returns whether two weights differ in nothing but rows and numbers. */
function isAlike(a: QuantizedTensor, b: QuantizedTensor): boolean {
  const isPart = (part: 'scales' | 'zeros' | 'offsets'): boolean => a[part]?.dtype === b[part]?.dtype;
  return (
    a.dtype === b.dtype &&
    a.block === b.block &&
    a.shape[1] === b.shape[1] &&
    isPart('scales') &&
    isPart('zeros') &&
    isPart('offsets')
  );
}

function describe({ dtype, block, shape, scales }: QuantizedTensor): string {
  return `${dtype}${shapeText(shape)} by ${block} with ${scales.dtype} scales`;
}

import { BYTES_OF } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type RunOperand,
  type Value,
} from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { placeOver, type TensorLike } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { scalarsOf } from '../compute/scalars.ts';
import { checkSameBackend, type OutOption, produce } from '../compute/produce.ts';
import { checkOptions, checkTensor, type OptionKinds, OUT } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { broadcastShapes, broadcastStrides, sameShape } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Options of {@link rope}. */
export interface RopeOptions extends OutOption {
  /** The position of each row, i32 or u32: `[seq]`, or a shape that broadcasts to that of `x` without `dim`. Default: 0, 1, ... */
  readonly positions?: Tensor | undefined;
  /** Added to each position: a number, or one integer on the device, which a recording reads anew. Default 0. */
  readonly offset?: TensorLike;
  /** Default 10000. */
  readonly base?: number;
  /** Radians per position, f32 `[dim / 2]`, for models that scale them. Default: `base^(-2 i / dim)`, to within 3 ulp. */
  readonly frequencies?: Tensor | undefined;
  /** Pairs elements 2 i and 2 i + 1 (as in the paper), not i and i + dim / 2 (as in GPT-NeoX, Llama). Default false. */
  readonly interleaved?: boolean;
}

const OPTIONS: OptionKinds = {
  ...OUT,
  ...{ positions: 'tensor', offset: 'operand', base: 'number', frequencies: 'tensor', interleaved: 'boolean' },
};

/**
 * Rotary positions of `[..., seq, dim]`: pair i of the row at position p is turned by `p base^(-2 i / dim)` radians. One
 * launch, which uploads nothing; `out` may be `x`.
 *
 * Su et al., RoFormer: enhanced transformer with rotary position embedding, 2021.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an odd `dim`, and for positions, an offset and frequencies that do not fit
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 0], [1, 0]]);
 * await rope(x).toArray(); // [1, 0, 0.5403, 0.8415]
 * await rope(x, { offset: 1 }).toArray(); // [0.5403, 0.8415, -0.4161, 0.9093]
 * ```
 */
export function rope(x: Tensor, options: RopeOptions = {}): Tensor {
  checkTensor('rope', 'x', x);
  checkOptions('rope', options, OPTIONS);
  const { positions, offset = 0, base = 10000, frequencies, interleaved = false } = options;
  check(x, options);
  const rows = x.shape.slice(0, -1);
  const half = (x.shape.at(-1) as number) / 2;
  const scalars = scalarsOf('rope', x.backend, x.rank, {
    offset: typeof offset === 'number' ? [offset, 'f32'] : [offset, 'i32'],
  });
  return produce('rope', x.backend, x.shape, x.dtype, options, (result) => {
    if (result.size === 0) return;
    const [a, b] = pairOf(x, interleaved);
    const [first, second] = pairOf(result, interleaved);
    const inputs: Record<string, RunOperand> = { a, b, ...scalars.inputs };
    const types: Record<string, NumberType> = { a: 'f32', b: 'f32', ...scalars.declared.inputs };
    if (frequencies !== undefined) {
      inputs['frequencies'] = placeOver(frequencies, [...rows, half]);
      types['frequencies'] = 'f32';
    }
    if (positions !== undefined) {
      const strides = [...broadcastStrides(positions.shape, positions.strides, rows), 0];
      inputs['positions'] = { ptr: positions.ptr, dtype: positions.dtype, strides };
      types['positions'] = ELEMENT_TYPES[positions.dtype].value;
    }
    const exponents = frequencies === undefined ? exponentsOf(half, base) : {};
    const declared = { ...scalars.declared.params, ...(frequencies === undefined ? EXPONENTS : {}) };
    const call = {
      shape: [...rows, half],
      inputs,
      params: { ...scalars.params, ...exponents },
      outputs: { first, second },
    };
    launch('rope', [x], () => launchKernel(x.backend, kernelOf(types, declared), call));
  });
}

function check(x: Tensor, { positions, offset = 0, base = 10000, frequencies }: RopeOptions): void {
  const dim = x.shape.at(-1) ?? 1;
  if (x.rank < 2 || dim % 2 !== 0 || ELEMENT_TYPES[x.dtype].value !== 'f32') {
    const form = 'f32, f16 or bf16 [..., seq, dim] with an even dim';
    throw refuse('rope', `takes ${form}, got ${x.dtype}${shapeText(x.shape)}`);
  }
  if (typeof offset === 'number' && !Number.isSafeInteger(offset))
    throw refuse('rope', `offset must be an integer, got ${offset}`);
  if (!(base > 0 && base < Infinity)) throw refuse('rope', `base must be a positive number, got ${base}`);
  checkSameBackend(
    'rope',
    x.backend,
    [positions, frequencies].filter((each) => each !== undefined),
  );
  if (
    frequencies !== undefined &&
    (!sameShape(frequencies.shape, [dim / 2]) || ELEMENT_TYPES[frequencies.dtype].value !== 'f32')
  ) {
    throw refuse(
      'rope',
      `frequencies must be f32[${dim / 2}], got ${frequencies.dtype}${shapeText(frequencies.shape)}`,
    );
  }
  if (positions === undefined) return;
  const rows = x.shape.slice(0, -1);
  const both = broadcastShapes(positions.shape, rows);
  if (ELEMENT_TYPES[positions.dtype].value === 'f32' || both === undefined || !sameShape(both, rows)) {
    const got = `${positions.dtype}${shapeText(positions.shape)}`;
    throw refuse('rope', `positions must be i32 or u32 and broadcast to ${shapeText(rows)}, got ${got}`);
  }
}

/**
 * Returns how a kernel computes the frequency of pair i: as `2^(-i octaves) e^(-i rest)`. Products of octaves and an i
 * below 2^12 are exact in float32, so that the exponent is, and of `e^-x` with so small an x three terms are enough.
 */
function exponentsOf(half: number, base: number): { readonly octaves: number; readonly rest: number } {
  const all = Math.log2(base) / half;
  const short = Float32Array.of(all);
  const bits = new Uint32Array(short.buffer);
  bits[0] = (bits[0] as number) & 0xfffff000;
  const [octaves = 0] = short;
  return { octaves, rest: (all - octaves) * Math.LN2 };
}

/** The first and the second elements of all pairs. */
function pairOf({ ptr, dtype, shape, strides }: Tensor, interleaved: boolean): readonly [RunOperand, RunOperand] {
  const dense = strides.at(-1) as number;
  const own = { dtype, strides: [...strides.slice(0, -1), interleaved ? 2 * dense : dense] };
  const distance = interleaved ? dense : (dense * (shape.at(-1) as number)) / 2;
  return [
    { ...own, ptr },
    { ...own, ptr: (ptr + distance * BYTES_OF[dtype]) as typeof ptr },
  ];
}

const EXPONENTS = { octaves: 'f32', rest: 'f32' } as const;
const kernels = new Kernels();

function kernelOf(inputs: Readonly<Record<string, NumberType>>, params: Readonly<Record<string, NumberType>>): Kernel {
  return kernels.of(
    JSON.stringify([inputs, params]),
    () =>
      defineKernel('rope', { inputs, params }, (symbols, k) => {
        const number = (name: string): Float =>
          inputs[name] === 'i32' || inputs[name] === 'u32'
            ? k.toF32(symbols[name] as Value<'i32'>)
            : (symbols[name] as Float);
        const place = 'positions' in inputs ? number('positions') : k.toF32(k.index(-2));
        const angle = k.mul(
          k.add(place, number('offset')),
          'frequencies' in inputs ? number('frequencies') : frequencyOf(k, symbols),
        );
        const [a, b, cos, sin] = [number('a'), number('b'), k.cos(angle), k.sin(angle)];
        return { first: k.sub(k.mul(a, cos), k.mul(b, sin)), second: k.add(k.mul(b, cos), k.mul(a, sin)) };
      }) as Kernel,
  );
}

function frequencyOf(k: KernelBuilder, symbols: Readonly<Record<string, unknown>>): Float {
  const pair = k.toF32(k.index(-1));
  const power = k.exp2(k.neg(k.mul(pair, symbols['octaves'] as Float)));
  const rest = k.mul(pair, symbols['rest'] as Float);
  return k.sub(power, k.mul(power, k.mul(rest, k.sub(1, k.mul(rest, 0.5)))));
}

type Float = Value<'f32'>;

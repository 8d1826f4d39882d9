import type { DType } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type Kernel,
  type KernelBuilder,
  type Scattered,
  type Value,
} from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { Kernels } from '../compute/kernels.ts';
import { checkAxis } from '../compute/rows.ts';
import { allocate } from '../tensor/allocate.ts';
import { checkOptions, checkTensor } from '../tensor/arguments.ts';
import { launch } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { pack } from '../views/pack.ts';
import { transpose } from '../views/permute.ts';
import { takeAlongAxis } from './take-along-axis.ts';

/** Options of {@link sort} and {@link argsort}. */
export interface SortOptions {
  /** Default -1. */
  readonly axis?: number;
  /** True: the greatest first. Default false. */
  readonly descending?: boolean;
}

const OPTIONS = { axis: 'any', descending: 'boolean' } as const;

/**
 * The elements along an axis in their order. NaN counts as greatest: last in ascending order, as NumPy has it, first in descending order. A
 * radix sort of two bits a launch: 16 launches of f32, i32 and u32, 10 of f16, 8 of bf16, 4 of i8 and u8, three times as many of long
 * rows; and one that puts the elements in order.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @throws {BackendError} UNSUPPORTED where the backend's `run` has no `scan` and `scatter`
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * await sort(tensor(backend, [[3, 1, 2], [0, 5, -1]])).toArray(); // [1, 2, 3, -1, 0, 5]
 * ```
 */
export function sort(x: Tensor, options: SortOptions = {}): Tensor {
  const { axis, descending } = check('sort', x, options);
  return tidy(() => takeAlongAxis(x, places('sort', x, axis, descending), axis));
}

/**
 * The places of the elements along an axis in their order, u32; those of equals, of both zeros and of all NaN, in the order in which they
 * were: {@link sort} is stable.
 *
 * @throws {BackendError} as {@link sort}
 * @example
 * ```ts
 * await argsort(tensor(backend, [3, 1, 2, 1]), { descending: true }).toArray(); // [0, 2, 1, 3]
 * ```
 */
export function argsort(x: Tensor, options: SortOptions = {}): Tensor {
  const { axis, descending } = check('argsort', x, options);
  return places('argsort', x, axis, descending);
}

function check(op: string, x: Tensor, options: SortOptions): Required<SortOptions> {
  checkTensor(op, 'x', x);
  checkOptions(op, options, OPTIONS);
  return { axis: checkAxis(op, x.shape, options.axis ?? -1), descending: options.descending ?? false };
}

/** The bits of keys that elements of a dtype differ in: from one to before another. */
const KEY_BITS: Readonly<Record<DType, readonly [from: number, to: number]>> = {
  f32: [0, 32],
  i32: [0, 32],
  u32: [0, 32],
  f16: [12, 32],
  bf16: [16, 32],
  i8: [0, 8],
  u8: [0, 8],
};

/** The places of the elements along an axis in a stable order, u32. */
export function places(op: string, x: Tensor, axis: number, descending: boolean): Tensor {
  const { backend } = x;
  return tidy(() => {
    const rows = pack(transpose(x, axis, -1));
    const length = rows.shape.at(-1) as number;
    const shape = [length === 0 ? 0 : rows.size / length, length] as const;
    const create = (): Tensor => allocate(op, backend, rows.shape, 'u32');
    const keys = [create(), create()] as const;
    const indices = [create(), create()] as const;
    const [from, to] = KEY_BITS[x.dtype];
    for (let shift = from, pass = 0; shift < to; shift += 2, pass++) {
      const isFirst = shift === from;
      const isLast = shift + 2 >= to;
      const [here, there] = [pass % 2, 1 - (pass % 2)] as [0, 1];
      const inputs = isFirst
        ? { key: { ptr: rows.ptr, dtype: rows.dtype } }
        : { key: keys[here].ptr, index: indices[here].ptr };
      const outputs = {
        indexed: { ptr: indices[there].ptr, shape },
        ...(isLast ? {} : { sorted: { ptr: keys[there].ptr, shape } }),
      };
      const kernel = kernelOf(op, isFirst ? x.dtype : undefined, descending, isLast);
      launch(op, [x], () => launchKernel(backend, kernel, { shape, folded: 1, inputs, params: { shift }, outputs }));
    }
    const passes = (to - from) / 2;
    return transpose(indices[(passes % 2) as 0 | 1], axis, -1);
  });
}

const kernels = new Kernels();

/**
 * One pass: each element goes behind those of the row whose digit is less, and those before it of the same digit.
 *
 * @param dtype - in the first pass that of the elements, of which keys are made; undefined: keys are loaded
 */
function kernelOf(op: string, dtype: DType | undefined, descending: boolean, isLast: boolean): Kernel {
  return kernels.of(`${op} ${dtype} ${descending} ${isLast}`, () => {
    const inputs = dtype === undefined ? { key: 'u32', index: 'u32' } : { key: ELEMENT_TYPES[dtype].value };
    const to = { type: 'u32', access: 'scatter', rank: 2, mode: 'set' } as const;
    const outputs = { indexed: to, ...(isLast ? {} : { sorted: to }) };
    return defineKernel(op, { inputs: inputs as { key: 'u32' }, params: { shift: 'u32' }, outputs }, (symbols, k) => {
      const given = symbols as unknown as { key: Value<'u32'>; index?: Value<'u32'>; shift: Value<'u32'> };
      const key = dtype === undefined ? given.key : keyOf(k, dtype, given.key, descending);
      const digit = k.and(k.shr(key, given.shift), 3);
      const at = [k.rowIndex(0), placeOf(k, digit)];
      const scattered: Record<string, Scattered> = { indexed: k.scatter(given.index ?? k.index(-1), at) };
      if (!isLast) scattered['sorted'] = k.scatter(key, at);
      return scattered;
    }) as Kernel;
  });
}

function placeOf(k: KernelBuilder, digit: Value<'u32'>): Value<'u32'> {
  let others = k.index(-1);
  let begin: Value<'u32'> = k.u32(0);
  let place: Value<'u32'> | undefined;
  for (const own of [0, 1, 2]) {
    const one = k.select(k.eq(digit, own), k.u32(1), 0);
    const before = k.scan('sum', one, { exclusive: true });
    const here = k.add(begin, before);
    place = place === undefined ? here : k.select(k.eq(digit, own), here, place);
    others = k.sub(others, before);
    begin = k.add(begin, k.fold('sum', one));
  }
  return k.select(k.eq(digit, 3), k.add(begin, others), place as Value<'u32'>);
}

/** A key in the order of the elements: both zeros have one, and all NaN the greatest. */
function keyOf(k: KernelBuilder, dtype: DType, x: Value, descending: boolean): Value<'u32'> {
  const key = ascendingKey(k, dtype, x);
  return descending ? k.not(key) : key;
}

function ascendingKey(k: KernelBuilder, dtype: DType, given: Value): Value<'u32'> {
  if (dtype === 'u32' || dtype === 'u8') return given as Value<'u32'>;
  if (dtype === 'i32' || dtype === 'i8') {
    return k.xor(k.toU32(given as Value<'i32'>), dtype === 'i32' ? 0x8000_0000 : 0x80);
  }
  const x = given as Value<'f32'>;
  const bits = k.bitcast('u32', x);
  const magnitude = k.and(bits, 0x7fff_ffff);
  const isNegative = k.and(k.ne(k.shr(bits, 31), 0), k.ne(magnitude, 0));
  const key = k.select(isNegative, k.not(bits), k.or(magnitude, 0x8000_0000));
  return k.select(k.gt(magnitude, 0x7f80_0000), k.u32(0xffff_ffff), key);
}

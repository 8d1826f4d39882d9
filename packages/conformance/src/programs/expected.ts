import type { ComputeBackend, DevicePtr, DType } from '@concord/backend-core';
import { compareAll, type Tolerance } from '../checks/compare.ts';
import { CaseFailure } from '../harness/case.ts';
import { bytesOf, encodeElement, numbersIn } from '../run/placement.ts';
import type { Expected, Place } from './step.ts';

/** Numbers that every device takes as they are: neither infinite nor subnormal, and far from where sums overflow. */
const isPlain = (x: number): boolean => x === 0 || (Math.abs(x) >= 2 ** -100 && Math.abs(x) <= 2 ** 60);

/** Sums of whole numbers, and of their halves, up to here are exact in any order. */
const MAX_EXACT = 2 ** 22;

/** The numbers in the bytes of an operand; undefined where one is such that the answer would not be sure. */
export function plainValues(dtype: DType, bytes: Uint8Array): Float64Array | undefined {
  const values = numbersIn(dtype, bytes);
  return values.every(isPlain) ? values : undefined;
}

/** True if sums of products of those have no rounding, as long as the magnitudes of the terms add up to little enough. */
export const areWhole = (values: ArrayLike<number>): boolean =>
  Array.prototype.every.call(values, (x: number) => Number.isInteger(2 * x) && Math.abs(x) <= MAX_EXACT);

/** True if a sum of whole terms of that magnitude has no rounding. */
export const isExactSum = (magnitude: number): boolean => magnitude <= MAX_EXACT;

/** Results with a tolerance; those whose bound is 0 are known to the bit, but for the sign of zero. */
export function expectedValues(
  name: string,
  dtype: DType,
  distances: ArrayLike<number>,
  value: ArrayLike<number>,
  tolerance: Tolerance,
): Expected {
  return {
    bitsOf: (index) => {
      const wanted = value[index] as number;
      return Number.isFinite(wanted) && tolerance.bound(index) === 0 ? encodeElement(dtype, wanted) : undefined;
    },
    judge: (after) => compareAll(name, elementsAt(dtype, after, distances), value, tolerance),
  };
}

/** The numbers at some distances from the start of an operand. */
export function elementsAt(dtype: DType, bytes: Uint8Array, distances: ArrayLike<number>): Float64Array {
  const numbers = numbersIn(dtype, bytes);
  return Float64Array.from(distances, (at) => numbers[at] as number);
}

/** The distances of elements that lie one after the other. */
export const inOrder = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, index) => index);

/** True if elements of the dtype are floating-point numbers. */
export const isFloat = (dtype: DType): boolean => dtype === 'f32' || dtype === 'f16' || dtype === 'bf16';

/** True if the bits are a zero of a floating-point dtype. */
export const isFloatZero = (dtype: DType, bits: number): boolean =>
  isFloat(dtype) && bits % 2 ** (8 * bytesOf(dtype) - 1) === 0;

/** Knowledge of a byte: nothing; its value; its value but for the highest bit, the sign of a floating-point zero. */
export const KNOWN = { nothing: 0, byte: 1, butSign: 2 } as const;

/** Bytes of an allocation and, for each, one of {@link KNOWN}. */
interface ModelBytes {
  readonly bytes: Uint8Array;
  readonly known: Uint8Array;
}

/** The memory of a device as a program leaves it. New memory holds anything, and so do results that are not exact. */
export class ModelMemory {
  readonly #allocations = new Map<number, ModelBytes>();

  /** The numbers of the live allocations. */
  get live(): readonly number[] {
    return [...this.#allocations.keys()];
  }

  alloc(id: number, bytes: number): void {
    this.#allocations.set(id, { bytes: new Uint8Array(bytes), known: new Uint8Array(bytes) });
  }

  free(id: number): void {
    this.#allocations.delete(id);
  }

  /** The size of an allocation; 0 for one that is not live. */
  sizeOf(id: number): number {
    return this.#allocations.get(id)?.bytes.length ?? 0;
  }

  /** True if that many bytes from there on are those of a live allocation. */
  holds({ id, at }: Place, length: number): boolean {
    return this.#allocations.has(id) && at >= 0 && at + length <= this.sizeOf(id);
  }

  /** A view of what {@link holds} says is there. */
  at({ id, at }: Place, length: number): ModelBytes {
    const { bytes, known } = this.#allocations.get(id) as ModelBytes;
    return { bytes: bytes.subarray(at, at + length), known: known.subarray(at, at + length) };
  }

  write(to: Place, bytes: Uint8Array): void {
    const own = this.at(to, bytes.length);
    own.bytes.set(bytes);
    own.known.fill(KNOWN.byte);
  }

  fill(to: Place, length: number, value: number): void {
    const own = this.at(to, length);
    own.bytes.fill(value);
    own.known.fill(KNOWN.byte);
  }

  copy(to: Place, from: Place, length: number): void {
    const source = this.at(from, length);
    const own = this.at(to, length);
    own.bytes.set(source.bytes);
    own.known.set(source.known);
  }
}

/** Copies bytes, so that later steps do not change them. */
export const snapshotOf = ({ bytes, known }: ModelBytes): ModelBytes => ({
  bytes: bytes.slice(),
  known: known.slice(),
});

/** The first byte that is not what is known of it; -1 where all are. */
function firstWrong({ bytes, known }: ModelBytes, got: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) {
    if (got[i] === bytes[i] || known[i] === KNOWN.nothing) continue;
    if (known[i] === KNOWN.byte || ((got[i] as number) ^ (bytes[i] as number)) !== 0x80) return i;
  }
  return -1;
}

/**
 * Compares bytes that were read with what is known of them.
 *
 * @throws {CaseFailure} where one is another
 */
export function compareKnown({ id, at }: Place, expected: ModelBytes, got: Uint8Array): void {
  const first = firstWrong(expected, got);
  if (first < 0) return;
  const wrong = got.reduce(
    (count, byte, i) => count + (expected.known[i] === KNOWN.byte && byte !== expected.bytes[i] ? 1 : 0),
    0,
  );
  throw new CaseFailure(
    `byte ${first} of ${got.length} read from p${id}${at === 0 ? '' : ` + ${at}`} is ${got[first]}, want ${expected.bytes[first]}; ${wrong} wrong`,
  );
}

/** Bytes on both sides of the destination of a read. */
const GUARD = 0xa5;

/** The manner of a read. */
export interface ReadManner {
  /** Bytes before the destination in its buffer. */
  readonly shift?: number;
  /** Aborted at once: from then on its destination is the program's alone. */
  readonly givenUp?: boolean;
}

/**
 * Begins a read.
 *
 * @param judge - gets the bytes of one that was not given up
 * @returns when it is done, and what then throws where something is wrong
 */
export function openRead(
  backend: ComputeBackend,
  ptr: DevicePtr,
  length: number,
  { shift = 0, givenUp = false }: ReadManner,
  judge: (got: Uint8Array) => void,
): { readonly done: Promise<void>; readonly check: () => void } {
  const whole = new Uint8Array(shift + length + 8).fill(GUARD);
  const got = whole.subarray(shift, shift + length);
  const view = shift % 2 === 1 ? new DataView(whole.buffer, shift, length) : got;
  const controller = new AbortController();
  const { signal } = controller;
  const done = backend.copyDtoh(view, ptr, { signal }).catch((error: unknown) => {
    if (!givenUp || error !== signal.reason) throw error;
  });
  // It is looked at when reads are waited for: until then it is nobody's unhandled rejection.
  done.catch(() => undefined);
  if (givenUp) controller.abort();
  // A backend may have done all at once.
  const held = givenUp ? got.slice() : undefined;
  const check = (): void => {
    const guards = [...whole.subarray(0, shift), ...whole.subarray(shift + length)];
    if (guards.some((byte) => byte !== GUARD) || held?.some((byte, index) => byte !== got[index]) === true) {
      throw new CaseFailure('a read wrote beside its place, or too late');
    }
    if (held === undefined) judge(got);
  };
  return { done, check };
}

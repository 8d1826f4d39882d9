import { invalid } from '../errors/invalid.ts';
import type { FloatDType } from './element-types.ts';

/** @throws {BackendError} INVALID_ARGUMENT unless `call` is an object */
export function checkCallObject(op: string, call: unknown): void {
  if (typeof call !== 'object' || call === null) throw invalid(`${op} takes one object, got ${describe(call)}`);
}

/** @throws {BackendError} INVALID_ARGUMENT unless `options` is an object */
export function checkOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null) {
    throw invalid(`options must be an object, got ${describe(options)}`);
  }
}

/** A size: a non-negative safe integer. */
export function checkSize(name: string, value: unknown): asserts value is number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw invalid(`${name} must be a non-negative safe integer, got ${describe(value)}`);
  }
}

/** A step or divisor: a positive safe integer. */
export function checkPositive(name: string, value: unknown): asserts value is number {
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    throw invalid(`${name} must be a positive safe integer, got ${describe(value)}`);
  }
}

/** The option `memoryLimitBytes`, which may be left out. */
export function checkMemoryLimit(value: unknown): void {
  if (value !== undefined) checkPositive('memoryLimitBytes', value);
}

/** Any number, NaN and infinities included; returned rounded to float32. */
export function checkFloat32(name: string, value: unknown): number {
  if (typeof value !== 'number') throw invalid(`${name} must be a number, got ${describe(value)}`);
  return Math.fround(value);
}

/** A list of sizes; returned as a copy that the caller cannot change later. */
export function checkSizes(
  name: string,
  value: unknown,
  check: (name: string, value: unknown) => void = checkSize,
): readonly number[] {
  if (!Array.isArray(value)) throw invalid(`${name} must be an array of integers, got ${describe(value)}`);
  const copy = copyList(name, value);
  for (let index = 0; index < copy.length; index++) check(`${name}[${index}]`, copy[index]);
  return copy as number[];
}

/** Far more axes than anything has: a list that claims more would keep the program busy for ever. */
const MAX_LIST = 1024;

/**
 * A list, its length and each element read once. What is no list is given back as it is, for the rules to refuse.
 *
 * @throws {BackendError} INVALID_ARGUMENT when it is longer than any list of sizes
 */
export function copyList<T>(name: string, value: T): T;
export function copyList(name: string, value: readonly unknown[]): unknown[];
export function copyList(name: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const length: unknown = value.length;
  checkSize(`the length of ${name}`, length);
  if (length > MAX_LIST) throw invalid(`${name} must have at most ${MAX_LIST} elements, got ${length}`);
  const copy: unknown[] = [];
  for (let index = 0; index < length; index++) copy.push(value[index]);
  return copy;
}

/** One of a fixed list of strings. */
export function checkOneOf<T extends string>(name: string, value: unknown, allowed: readonly T[]): T {
  if (!allowed.includes(value as T)) {
    throw invalid(`${name} must be one of ${allowed.join(', ')}, got ${describe(value)}`);
  }
  return value as T;
}

/** An element type of the named ops; `fallback` where none is given. */
export function checkDType(value: unknown, fallback: FloatDType = 'f32'): FloatDType {
  return value === undefined ? fallback : checkOneOf('dtype', value, ['f32', 'f16']);
}

/** A boolean; `fallback` where none is given. */
export function checkBoolean(name: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== 'boolean') throw invalid(`${name} must be a boolean, got ${describe(value)}`);
  return value;
}

/** The type of a pointer, not whether it is live. */
export function checkPointerType(name: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw invalid(`${name} must be a DevicePtr, got ${describe(value)}`);
  }
}

/**
 * Elements from the first to the last of a strided matrix, `(rows - 1) * rowStride + columns`, 0 when it has none.
 *
 * @throws {BackendError} INVALID_ARGUMENT when that many bytes are beyond 2^53
 */
export function matrixExtent(name: string, rows: number, columns: number, rowStride: number): number {
  return rows === 0 || columns === 0 ? 0 : checkedExtent(name, (rows - 1) * rowStride + columns);
}

/** `elements`, if it and its size in bytes are safe integers. */
export function checkedExtent(name: string, elements: number): number {
  // Products of safe integers that exceed 2^53 stay above it after rounding, so this catches every overflow.
  if (!Number.isSafeInteger(elements * 4)) throw invalid(`${name} spans more than 2^53 bytes`);
  return elements;
}

/** Number of elements of a packed tensor, checked as {@link checkedExtent}. */
export function packedExtent(name: string, shape: readonly number[]): number {
  return checkedExtent(name, shape.includes(0) ? 0 : shape.reduce((product, size) => product * size, 1));
}

/** A value as it should appear in an error message. Never throws, whatever the value. */
export function describe(value: unknown): string {
  try {
    return shown(value);
  } catch {
    // A getter or proxy that throws.
    return 'an object';
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) {
    // One level only: an array may hold itself, or objects that String() chokes on.
    const first = value.slice(0, 8).map((element) => (Array.isArray(element) ? 'an array' : describe(element)));
    return `[${first.join(', ')}${value.length > 8 ? ', ...' : ''}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const name: unknown = value.constructor?.name;
    return typeof name === 'string' && name !== '' ? name.slice(0, 40) : 'an object';
  }
  if (typeof value === 'function') return 'a function';
  return String(value);
}

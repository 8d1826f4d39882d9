import type { ComputeBackend } from '@concord/backend-core';
import { checkFields, describe } from '@concord/backend-core/implement';
import { refuse } from './errors.ts';
import { Tensor } from './tensor.ts';

/** The kind of value of an option; `'any'` where the function itself looks at it. */
export type OptionKind = 'tensor' | 'operand' | 'number' | 'boolean' | 'function' | 'any';

/** The options of a function, by name. */
export type OptionKinds = Readonly<Record<string, OptionKind>>;

/** The options of a function that has no others than its `out`. */
export const OUT = { out: 'tensor' } as const;

/** The options of functions that make tensors. */
export const CREATE = { dtype: 'any', label: 'any' } as const;

/**
 * Options in one object, each of its kind. One that there is not would silently mean its default.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkOptions(op: string, options: unknown, kinds: OptionKinds): void {
  if (typeof options !== 'object' || options === null || options instanceof Tensor || Array.isArray(options)) {
    // What somebody meant who gave it without a name, or has to give.
    const example = ['axis', 'seed', 'bias'].find((name) => name in kinds) ?? Object.keys(kinds)[0];
    throw refuse(op, `takes its options in one object, such as { ${example} }, got ${shown(options)}`);
  }
  // Not `Object.keys`, which makes a list with each call.
  for (const name in options) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) continue;
    const kind = kinds[name];
    if (typeof kind === 'string') checkKind(op, name, value, kind);
    else checkFields(`${op}: options`, options, Object.keys(kinds), { op });
  }
}

function checkKind(op: string, name: string, value: unknown, kind: OptionKind): void {
  if (kind === 'any') return;
  if (kind === 'tensor') checkTensor(op, name, value);
  else if (kind === 'operand') checkOperand(op, name, value);
  else if (typeof value !== kind) throw refuse(op, `${name} must be a ${kind}, got ${shown(value)}`);
}

/** @throws {BackendError} INVALID_ARGUMENT for anything but a tensor */
export function checkTensor(op: string, name: string, value: unknown): asserts value is Tensor {
  if (!(value instanceof Tensor)) throw refuse(op, `${name} must be a tensor, got ${shown(value)}`);
}

/** @throws {BackendError} INVALID_ARGUMENT for anything but tensors */
export function checkTensors(op: string, tensors: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(tensors)) checkTensor(op, name, tensors[name]);
}

/** @throws {BackendError} INVALID_ARGUMENT for anything but a tensor or a number */
export function checkOperand(op: string, name: string, value: unknown): void {
  if (typeof value === 'number' || value instanceof Tensor) return;
  throw refuse(op, `${name} must be a tensor or a number, got ${shown(value)}`);
}

/** @throws {BackendError} INVALID_ARGUMENT for anything but numbers */
export function checkNumbers(op: string, numbers: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(numbers)) checkKind(op, name, numbers[name], 'number');
}

/** @throws {BackendError} INVALID_ARGUMENT for anything but a list */
export function checkList(op: string, name: string, value: unknown): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw refuse(op, `${name} must be a list, got ${shown(value)}`);
}

/** @throws {BackendError} INVALID_ARGUMENT unless it is a backend */
export function checkBackend(op: string, backend: unknown): asserts backend is ComputeBackend {
  if (typeof (backend as ComputeBackend | null | undefined)?.copyHtod === 'function') return;
  throw refuse(op, 'takes a backend first', { hint: 'const { backend } = await selectBackend(...)' });
}

/** A value as it stands in a message: of a tensor its type, shape and backend. */
export function shown(value: unknown): string {
  return value instanceof Tensor ? value.toString() : describe(value);
}

import { checkCallObject, checkPointerType, copyList, describe } from '../contract/checks.ts';
import { checkFields, hasFields } from '../contract/fields.ts';
import { invalid } from '../errors/invalid.ts';
import { unreadable } from '../errors/reading.ts';
import { addList, addView } from '../kernel/same-run.ts';
import type { Kernel, KernelInput } from '../kernel/graph.ts';
import { readParamList } from '../kernel/read-run-call.ts';
import { ACCUMULATOR, ReadEpilogue, readEpilogue } from '../ops/epilogue.ts';
import { type DefinedOp, OPS } from '../ops/index.ts';
import type { CheckedCall, OpDefinition } from '../ops/op-definition.ts';

/** A call, each of its fields read once; nothing of it is checked but that it has no others. */
export interface ReadCall {
  /** Equal for calls that differ in nothing but addresses, scalars and the parameters of an epilogue. */
  readonly key: readonly unknown[];
  /** Copies, in the order of {@link OpDefinition.read}. */
  readonly values: readonly unknown[];
  /** Addresses in the order of {@link pointerNames}; undefined in a shape. */
  readonly pointers: readonly (number | undefined)[];
  /** The parameters of the epilogue; empty if none were given. */
  readonly params: readonly number[];
  /** Values of {@link OpDefinition.scalars}; undefined for those that the key tells. */
  readonly scalars: readonly (number | undefined)[];
  /** The number of addresses and parameters that a call should give and does not: it has the plan of no call that does. */
  readonly lacking: number;
}

/** No parameters. */
export const NO_NUMBERS: readonly number[] = [];
/** Stands for a scalar in a key. */
const ANY = Symbol('any');
const NAMES = Object.fromEntries(
  Object.entries(OPS).map(([op, { fields, operands }]) => [op, [...Object.keys(fields), ...operands]]),
) as unknown as Readonly<Record<DefinedOp, readonly string[]>>;

/**
 * Reads a call, or a shape: a call without pointers.
 *
 * @throws {BackendError} INVALID_ARGUMENT for what cannot be read, and a field that the op does not have
 */
export function readCall(op: DefinedOp, call: object, isShape: boolean): ReadCall {
  try {
    return read(op, call, isShape);
  } catch (error) {
    throw unreadable(isShape ? 'the shape' : 'the call', error);
  }
}

/** The fields of a call by their names, as the rules of its op want them. */
export function fieldsOf(op: DefinedOp, { values }: ReadCall): Record<string, unknown> {
  return Object.fromEntries(NAMES[op].map((name, index) => [name, values[index]]));
}

/**
 * Names the addresses of a call: those of its inputs, of objects that have one, such as a mask, of the epilogue's
 * inputs, then of its outputs.
 */
export function pointerNames(op: DefinedOp, call: ReadCall): string[] {
  const fields = fieldsOf(op, call);
  const { epilogue } = fields;
  const { operands, output, nested = {} } = OPS[op] as OpDefinition<object, CheckedCall>;
  const outputs = operands.indexOf(output);
  const names = operands.slice(0, outputs);
  for (const [path, own] of Object.entries(nested)) {
    if (own.includes('ptr') && isGiven(fields, path.split('.'))) names.push(path);
  }
  const inputs = epilogue instanceof ReadEpilogue ? epilogue.kernel.inputs : [];
  for (const { name } of inputs) if (name !== ACCUMULATOR) names.push(`epilogue.${name}`);
  return [...names, ...operands.slice(outputs)];
}

/** Returns whether there is an object at a path of names. */
function isGiven(fields: unknown, path: readonly string[]): boolean {
  const isObject = typeof fields === 'object' && fields !== null;
  const [name, ...rest] = path;
  return name === undefined ? isObject : isObject && isGiven((fields as Record<string, unknown>)[name], rest);
}

/**
 * Copies of the addresses and parameters that a planned call is launched with.
 *
 * @param names - what the addresses are of
 * @throws {BackendError} INVALID_ARGUMENT for another number of them, what is no pointer, and parameters that the kernel does not take
 */
export function readOperands(
  names: readonly string[],
  given: readonly unknown[],
  params: Kernel['params'],
  values: readonly number[],
): { readonly pointers: readonly number[]; readonly numbers: readonly number[] } {
  try {
    const areNone = params.length === 0 && values === NO_NUMBERS;
    return { pointers: readPointers(names, given), numbers: areNone ? values : readParamList(params, values) };
  } catch (error) {
    throw unreadable('the operands', error);
  }
}

/** A quick check that most pointers pass: each further step of a launch would cost time. */
const isAddress = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

function readPointers(names: readonly string[], given: readonly unknown[]): readonly number[] {
  if (!Array.isArray(given) || given.length !== names.length) {
    throw invalid(`launch takes a list of ${names.length} pointers (${names.join(', ')}), got ${describe(given)}`);
  }
  const pointers: number[] = [];
  for (let index = 0; index < names.length; index++) {
    const pointer: unknown = given[index];
    if (!isAddress(pointer)) checkPointerType(names[index] as string, pointer);
    pointers.push(pointer as number);
  }
  return pointers;
}

/** The key of the same call with a null output. */
export function withNullOutput([op, , ...others]: ReadCall['key']): ReadCall['key'] {
  return [op, true, ...others];
}

/** @throws {BackendError} INVALID_ARGUMENT for the first address that is lacking, or the parameters */
export function checkGiven(op: DefinedOp, call: ReadCall): void {
  if (call.lacking === 0) return;
  for (const [index, name] of pointerNames(op, call).entries()) {
    checkPointerType(name, call.pointers[index]);
  }
  throw invalid('epilogue.params must be given');
}

function read(op: DefinedOp, call: object, isShape: boolean): ReadCall {
  if (typeof call !== 'object' || call === null) checkCallObject(op, call);
  const definition: OpDefinition<object, CheckedCall> = OPS[op];
  const names = NAMES[op];
  const values = definition.read(call as Readonly<Record<string, unknown>>);
  let count = 0;
  for (let index = 0; index < values.length; index++) if (values[index] !== undefined) count++;
  if (!hasFields(call, count)) checkFields(op, call, names);

  const key: unknown[] = [op];
  const pointers: (number | undefined)[] = [];
  const first = values.length - definition.operands.length;
  const output = names.indexOf(definition.output, first);
  for (let index = first; index < values.length; index++) {
    if (isShape) values[index] = undefined;
    else if (!isAddress(values[index])) checkPointerType(names[index] as string, values[index]);
    if (index < output) pointers.push(values[index] as number | undefined);
  }
  // A call with nothing to do need not have memory for it.
  key.push(values[output] === 0);
  let params = NO_NUMBERS;
  let lacking = 0;
  const { scalars: free } = definition;
  const scalars: (number | undefined)[] = [];
  for (let index = 0; index < first; index++) {
    const value = values[index];
    const isFree = free?.[names[index] as string];
    if (isFree !== undefined) {
      const scalar = typeof value === 'number' ? Math.fround(value) : 0;
      const isAny = typeof value === 'number' && isFree(scalar);
      scalars.push(isAny ? scalar : undefined);
      key.push(isAny ? ANY : value);
    } else if (typeof value !== 'object' || value === null) key.push(value);
    else if (names[index] === 'epilogue') {
      const epilogue = readEpilogue(value);
      values[index] = epilogue;
      key.push(epilogue.kernel);
      for (const view of epilogue.inputs.views) addView(key, view);
      const { inputs } = epilogue.kernel;
      for (let at = 0; at < inputs.length; at++) {
        // The product has no address.
        if ((inputs[at] as KernelInput).name !== ACCUMULATOR) pointers.push(epilogue.inputs.pointers[at]);
      }
      params = epilogue.params;
      lacking += epilogue.kernel.params.length - params.length;
    } else values[index] = readObject(names[index] as string, value, definition.nested, key, pointers);
  }
  for (let index = output; index < values.length; index++) pointers.push(values[index] as number | undefined);
  for (let index = 0; index < pointers.length; index++) if (pointers[index] === undefined) lacking++;
  if (isShape) lacking = 0;
  key.push(lacking);
  return { key, values, pointers, params, scalars, lacking };
}

/** A copy of a list, or of an object of lists and such objects. What is neither is left for the rules to refuse. */
function readObject(
  name: string,
  value: object,
  nested: OpDefinition<object, CheckedCall>['nested'],
  key: unknown[],
  pointers: (number | undefined)[],
): unknown {
  const own = nested?.[name];
  if (own === undefined || Array.isArray(value)) {
    const copy: unknown = copyList(name, value);
    addList(key, copy);
    return copy;
  }
  const copy: Record<string, unknown> = {};
  let count = 0;
  key.push(own);
  for (const field of own) {
    const each = (value as Readonly<Record<string, unknown>>)[field];
    if (each !== undefined) count++;
    const path = `${name}.${field}`;
    if (typeof each === 'object' && each !== null && nested?.[path] !== undefined) {
      copy[field] = readObject(path, each, nested, key, pointers);
      continue;
    }
    copy[field] = copyList(path, each);
    if (field !== 'ptr') addList(key, copy[field]);
    else {
      if (each !== undefined) checkPointerType(name, each);
      pointers.push(each as number | undefined);
    }
  }
  if (!hasFields(value, count)) checkFields(name, value, own);
  return copy;
}

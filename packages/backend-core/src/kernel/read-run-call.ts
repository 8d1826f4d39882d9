import { ELEMENT_TYPES } from '../contract/element-types.ts';
import { checkCallObject, checkPointerType, copyList, describe } from '../contract/checks.ts';
import { checkFields, hasFields } from '../contract/fields.ts';
import { invalid } from '../errors/invalid.ts';
import type { Kernel, KernelInput, KernelOutput } from './graph.ts';
import type { GatherView, RunView } from './run-call.ts';
import { addList, addView, type AskedRun } from './same-run.ts';

/** Operands by what a kernel declares: their layouts and addresses, where they are given. */
export interface ReadViews {
  readonly views: readonly (RunView | GatherView | undefined)[];
  readonly pointers: readonly (number | undefined)[];
}

/** A call of a kernel, each of its fields read once, and not checked. */
export interface ReadRun {
  readonly shape: readonly number[];
  readonly folded: number | undefined;
  readonly inputs: ReadViews;
  readonly outputs: ReadViews;
  /** Values in the order of `kernel.params`; empty where none were given. */
  readonly params: readonly number[];
}

type Declared = readonly {
  readonly name: string;
  readonly access?: KernelInput['access'];
  readonly scatter?: KernelOutput['scatter'];
}[];

const CALL_FIELDS = ['kernel', 'shape', 'folded', 'inputs', 'outputs', 'params'];
const VIEW_FIELDS = ['ptr', 'strides', 'dtype'];
const SHAPED_FIELDS = ['ptr', 'shape', 'strides', 'dtype'];
const NO_NUMBERS: readonly number[] = [];

/** @throws {BackendError} INVALID_ARGUMENT for a name that the kernel does not have, and values of wrong types */
export function readRun(kernel: Kernel, call: unknown): ReadRun {
  checkCallObject('run', call);
  const { kernel: own, shape, folded, inputs, outputs, params } = call as Record<string, unknown>;
  const count = given(own) + given(shape) + given(folded) + given(inputs) + given(outputs) + given(params);
  if (!hasFields(call as object, count)) checkFields('run', call as object, CALL_FIELDS);
  return {
    shape: copyList('shape', shape as readonly number[]),
    folded: folded as number | undefined,
    inputs: readViews('inputs', kernel.inputs, inputs),
    outputs: readViews('outputs', kernel.outputs, outputs),
    params: readParams(kernel, params),
  };
}

/** The geometry that a call asks for. */
export function askedOf(kernel: Kernel, { shape, folded, inputs, outputs }: ReadRun): AskedRun {
  const asked = { shape, inputs: viewsByName(kernel.inputs, inputs), outputs: viewsByName(kernel.outputs, outputs) };
  return folded === undefined ? asked : { ...asked, folded };
}

/** @throws {BackendError} INVALID_ARGUMENT unless every operand has an address */
export function checkViewsGiven(what: string, declared: Declared, { pointers }: ReadViews): void {
  const missing = pointers.indexOf(undefined);
  if (missing >= 0) checkPointerType(`${what}.${declared[missing]?.name}`, undefined);
}

/** The layouts that were given, by name. */
export function viewsByName(declared: Declared, { views }: ReadViews): Record<string, RunView | GatherView> {
  const named: Record<string, RunView | GatherView> = {};
  for (const [index, { name }] of declared.entries()) {
    const view = views[index];
    if (view !== undefined) named[name] = view;
  }
  return named;
}

/** A list that is equal for calls which differ in nothing but addresses and parameters. */
export function keyOfRun(kernel: Kernel, { shape, folded, inputs, outputs }: ReadRun): unknown[] {
  const key: unknown[] = [kernel, folded];
  addList(key, shape);
  for (const view of inputs.views) addView(key, view);
  for (const view of outputs.views) addView(key, view);
  return key;
}

/**
 * Reads a record of pointers and views.
 *
 * @param besides - a declared name that the record does not have
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function readViews(what: string, declared: Declared, record: unknown = {}, besides?: string): ReadViews {
  if (typeof record !== 'object' || record === null)
    throw invalid(`${what} must be an object, got ${describe(record)}`);
  const views: (RunView | GatherView | undefined)[] = [];
  const pointers: (number | undefined)[] = [];
  let count = 0;
  for (let index = 0; index < declared.length; index++) {
    const { name, access, scatter } = declared[index] as Declared[number];
    const isOwn = name !== besides && Object.hasOwn(record, name);
    const value = isOwn ? (record as Readonly<Record<string, unknown>>)[name] : undefined;
    count += given(value);
    if (typeof value === 'object' && value !== null) {
      // By name: what a class gives by getters counts as what an object owns.
      const { ptr, strides, dtype, shape } = value as { ptr?: unknown } & GatherView;
      const hasShape = access === 'gather' || scatter !== undefined;
      const fields = given(ptr) + given(strides) + given(dtype) + (hasShape ? given(shape) : 0);
      if (!hasFields(value, fields)) checkFields(`${what}.${name}`, value, hasShape ? SHAPED_FIELDS : VIEW_FIELDS);
      if (ptr !== undefined) checkPointerType(`${what}.${name}.ptr`, ptr);
      pointers.push(ptr as number | undefined);
      views.push({
        strides: copyList(`strides of ${name}`, strides),
        dtype,
        shape: copyList(`the shape of ${name}`, shape),
      } as GatherView);
      continue;
    }
    if (value !== undefined) checkPointerType(`${what}.${name}`, value);
    pointers.push(value as number | undefined);
    views.push(undefined);
  }
  if (!hasFields(record, count)) {
    const names = declared.map(({ name }) => name).filter((name) => name !== besides);
    checkFields(what, record, names);
  }
  return { views, pointers };
}

/**
 * The values of a kernel's parameters; none where the record is missing.
 *
 * @throws {BackendError} INVALID_ARGUMENT for one that is missing, unknown, no number, or out of its type's range
 */
export function readParams(kernel: Kernel, record: unknown): readonly number[] {
  if (record === undefined) return NO_NUMBERS;
  if (typeof record !== 'object' || record === null) throw invalid(`params must be an object, got ${describe(record)}`);
  const { params } = kernel;
  const values: unknown[] = [];
  let count = 0;
  for (let index = 0; index < params.length; index++) {
    const value = (record as Readonly<Record<string, unknown>>)[(params[index] as { name: string }).name];
    count += given(value);
    values.push(value);
  }
  if (!hasFields(record, count)) {
    const names = params.map(({ name }) => name);
    checkFields('params', record, names);
  }
  return params.map((param, index) => checkParam(param, values[index]));
}

/**
 * The values of a kernel's parameters, given in their order.
 *
 * @throws {BackendError} INVALID_ARGUMENT for another number of them, one that is no number, or out of its type's range
 */
export function readParamList(params: Kernel['params'], list: readonly unknown[]): readonly number[] {
  if (!Array.isArray(list) || list.length !== params.length) {
    throw invalid(`params must be a list of ${params.length} numbers, got ${describe(list)}`);
  }
  return params.length === 0 ? NO_NUMBERS : params.map((param, index) => checkParam(param, list[index]));
}

function checkParam({ name, type }: Kernel['params'][number], value: unknown): number {
  if (typeof value !== 'number') throw invalid(`params.${name} must be a number, got ${describe(value)}`);
  const { range } = ELEMENT_TYPES[type];
  if (range === undefined) return Math.fround(value);
  const [min, max] = range;
  if (!Number.isInteger(value) || value < min || value > max) {
    throw invalid(`params.${name} must be an integer from ${min} to ${max}, got ${describe(value)}`);
  }
  return value;
}

const given = (value: unknown): number => (value === undefined ? 0 : 1);

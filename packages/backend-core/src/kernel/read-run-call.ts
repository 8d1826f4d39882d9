import { checkCallObject, checkPointerType, copyList, describe } from '../contract/checks.ts';
import { checkFields } from '../contract/fields.ts';
import { invalid } from '../errors/invalid.ts';
import type { AskedRun } from './asked-run.ts';
import type { Kernel, KernelInput } from './graph.ts';
import { INTEGER_RANGES } from './node-ops.ts';
import type { GatherView, RunView } from './run-call.ts';

/** A call of a kernel, each of its fields read once. */
export interface ReadRun {
  readonly asked: AskedRun;
  /** Addresses in the order of `kernel.inputs`; undefined where none was given. */
  readonly inputs: readonly (number | undefined)[];
  /** Addresses in the order of `kernel.outputs`. */
  readonly outputs: readonly (number | undefined)[];
  /** Values in the order of `kernel.params`; empty where none were given. */
  readonly params: readonly number[];
}

const CALL_FIELDS = ['kernel', 'shape', 'folded', 'inputs', 'outputs', 'params'];
const VIEW_FIELDS = ['ptr', 'strides', 'dtype'];
const GATHER_FIELDS = ['ptr', 'shape', 'strides', 'dtype'];

/**
 * Reads a call of a kernel: what it asks for, not whether that makes sense.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a name that the kernel does not have, and values of wrong types
 */
export function readRun(kernel: Kernel, call: unknown): ReadRun {
  checkCallObject('run', call);
  checkFields('run', call as object, CALL_FIELDS);
  const { shape, folded, inputs, outputs, params } = call as Record<string, unknown>;
  const read = readViews('inputs', kernel.inputs, inputs);
  const written = readViews('outputs', kernel.outputs, outputs);
  return {
    asked: {
      shape: copyList('shape', shape as readonly number[]),
      folded: folded as number,
      inputs: read.views,
      outputs: written.views,
    },
    inputs: read.pointers,
    outputs: written.pointers,
    params: readParams(kernel, params),
  };
}

/** Layouts and addresses by name. */
export interface ReadViews {
  readonly views: Readonly<Record<string, RunView | GatherView>>;
  readonly pointers: readonly (number | undefined)[];
}

/**
 * Reads a record of pointers and views.
 *
 * @param besides - a declared name that the record does not have
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function readViews(
  what: string,
  declared: readonly { readonly name: string; readonly access?: KernelInput['access'] }[],
  given: unknown = {},
  besides?: string,
): ReadViews {
  if (typeof given !== 'object' || given === null) throw invalid(`${what} must be an object, got ${describe(given)}`);
  const record = given as Readonly<Record<string, unknown>>;
  const names = declared.map(({ name }) => name).filter((name) => name !== besides);
  checkFields(what, record, names);
  const views: Record<string, RunView | GatherView> = {};
  const pointers = declared.map(({ name, access }) => {
    if (name === besides || !Object.hasOwn(record, name)) return undefined;
    const value = record[name];
    if (typeof value === 'object' && value !== null) {
      checkFields(`${what}.${name}`, value, access === 'gather' ? GATHER_FIELDS : VIEW_FIELDS);
      // By name: what a class gives by getters counts as what an object owns.
      const { ptr, strides, dtype, shape } = value as { ptr?: unknown } & GatherView;
      views[name] = {
        strides: copyList(`strides of ${name}`, strides),
        dtype,
        shape: copyList(`the shape of ${name}`, shape),
      } as RunView;
      if (ptr !== undefined) checkPointerType(`${what}.${name}.ptr`, ptr);
      return ptr as number | undefined;
    }
    if (value !== undefined) checkPointerType(`${what}.${name}`, value);
    return value as number | undefined;
  });
  return { views, pointers };
}

/**
 * The values of a kernel's parameters; none where the record is missing.
 *
 * @throws {BackendError} INVALID_ARGUMENT for one that is missing, unknown, no number, or out of its type's range
 */
export function readParams(kernel: Kernel, given: unknown): readonly number[] {
  if (given === undefined) return [];
  if (typeof given !== 'object' || given === null) throw invalid(`params must be an object, got ${describe(given)}`);
  const names = kernel.params.map(({ name }) => name);
  checkFields('params', given, names);
  const record = given as Readonly<Record<string, unknown>>;
  return kernel.params.map(({ name, type }) => {
    const value = record[name];
    if (typeof value !== 'number') throw invalid(`params.${name} must be a number, got ${describe(value)}`);
    if (type === 'f32') return Math.fround(value);
    const [min, max] = INTEGER_RANGES[type];
    if (!Number.isInteger(value) || value < min || value > max) {
      throw invalid(`params.${name} must be an integer from ${min} to ${max}, got ${describe(value)}`);
    }
    return value;
  });
}

import type { BackendError } from '@concord/backend-core';
import { diagnose, saidBy, thisSystem } from './diagnose.ts';
import type { DriverHandle } from './handles.ts';
import type { LevelZeroLibrary } from './load.ts';
import { RESULTS } from './result.ts';
import { Struct } from './structs.ts';

const ALL_DRIVER_TYPES = 0xffffffff;

/** `zeInit` keeps its first answer for as long as the process lives, and so does this. */
const initialized = new WeakMap<LevelZeroLibrary, readonly DriverHandle[]>();

/**
 * Starts Level Zero, once, and lists its drivers.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE with what is missing and what to do
 */
export function initialize(library: LevelZeroLibrary): readonly DriverHandle[] {
  let drivers = initialized.get(library);
  if (drivers === undefined) {
    drivers = listDrivers(library);
    initialized.set(library, drivers);
  }
  return drivers;
}

function listDrivers(library: LevelZeroLibrary): readonly DriverHandle[] {
  const { api } = library;
  if (library.has('zeInitDrivers')) {
    const description = new Struct('ze_init_driver_type_desc_t').set('flags', ALL_DRIVER_TYPES).bytes;
    const newer = handles((count, list) => api.zeInitDrivers(count, list, description));
    // Drivers of before 1.10 answer only the older way.
    if (newer.handles.length > 0) return newer.handles as readonly DriverHandle[];
  }
  const result = api.zeInit(0);
  if (result !== RESULTS.SUCCESS) throw failure(library, saidBy('zeInit', result));
  const listed = handles((count, list) => api.zeDriverGet(count, list));
  if (listed.result !== RESULTS.SUCCESS) throw failure(library, saidBy('zeDriverGet', listed.result));
  if (listed.handles.length === 0) throw failure(library, 'zeDriverGet lists no driver');
  return listed.handles as readonly DriverHandle[];
}

/** The problem of this machine. */
export function failure({ koffi }: LevelZeroLibrary, said: string): BackendError {
  return diagnose(said, thisSystem(koffi));
}

/** Handles that a function lists when it is asked twice: how many, then which. */
export function handles(list: (count: Uint32Array, handles: BigUint64Array | null) => number): {
  readonly result: number;
  readonly handles: readonly bigint[];
} {
  const count = new Uint32Array(1);
  let result = list(count, null);
  if (result !== RESULTS.SUCCESS || count[0] === 0) return { result, handles: [] };
  const found = new BigUint64Array(count[0] ?? 0);
  result = list(count, found);
  return { result, handles: result === RESULTS.SUCCESS ? [...found.subarray(0, count[0])] : [] };
}

import type { FloatDType } from '@concord/backend-core';
import { type Entry, short, timedEntry } from '../results.ts';
import { figureOf, type Runner, type Schedule, takeTurns } from '../turns.ts';

/** To see that everything runs. */
export const QUICK = { rounds: 3, roundMs: 5 } as const;
/** A GPU that had nothing to do runs at a fraction of its clock at first. */
export const WHOLE = { rounds: 7, roundMs: 100, warmMs: 300 } as const;
/** On cores that others use too. */
export const WHOLE_ON_CPU = { rounds: 11, roundMs: 20, pauseMs: 20, takes: 'least' } as const;

/** The work of a model made ready on a device. */
export interface PreparedModel {
  /** Does the work `count` times and waits for all of it. @returns milliseconds of handing it over, where they are known */
  readonly calls: (count: number) => Promise<number | undefined>;
  /** Does the work once more. @returns the outputs that are compared with the reference, row-major */
  readonly outputs: () => Promise<Float32Array>;
  readonly close: () => Promise<void>;
}

/** Makes `count` calls, with what follows each. @returns milliseconds in which JavaScript handed them over */
export async function hostMsOf(
  count: number,
  call: (index: number) => void,
  then?: () => Promise<unknown>,
): Promise<number> {
  let hostMs = 0;
  for (let index = 0; index < count; index++) {
    const start = performance.now();
    call(index);
    hostMs += performance.now() - start;
    if (then !== undefined) await then();
  }
  return hostMs;
}

/** Share of the largest output that one may be off; f16 is rounded in each layer. */
const TOLERANCE = { f32: 1e-4, f16: 5e-2 } as const;

/**
 * Times all contestants on one work of a model, each after its outputs were compared with the reference.
 *
 * @param contestants - functions that make the work ready, by the contestants' names
 * @param reference - the right outputs, where they are known
 */
export async function measureModel(
  dtype: FloatDType,
  contestants: ReadonlyMap<string, () => Promise<PreparedModel>>,
  reference: Float32Array | undefined,
  schedule: Schedule,
): Promise<Entry[]> {
  const hostMs = new Map<string, number[]>();
  const ready = async (name: string, prepare: () => Promise<PreparedModel>): Promise<Runner> => {
    const prepared = await prepare();
    const hosts: number[] = [];
    hostMs.set(name, hosts);
    const time = async (calls: number): Promise<number> => {
      const start = performance.now();
      const ms = await prepared.calls(calls);
      if (ms !== undefined) hosts.push(ms / calls);
      return performance.now() - start;
    };
    const check = async (): Promise<void> => {
      if (reference !== undefined) checkOutputs(await prepared.outputs(), reference, dtype);
    };
    return { check, time, close: () => prepared.close() };
  };
  const runners = [...contestants].map(([name, prepare]) => [name, () => ready(name, prepare)] as const);
  return [...(await takeTurns(new Map(runners), schedule))].map(([name, turns]) => {
    const entry = timedEntry(name, turns, schedule.takes);
    // Those before are of finding out how many calls make a round.
    const hosts = hostMs.get(name)?.slice(-(entry.rounds?.length ?? 0)) ?? [];
    if (entry.rounds === undefined || hosts.length === 0) return entry;
    return { ...entry, hostMs: short(figureOf(hosts, schedule.takes)) };
  });
}

/** @throws {Error} where the outputs are not those of the reference */
export function checkOutputs(got: Float32Array, reference: Float32Array, dtype: FloatDType): void {
  if (got.length !== reference.length) throw new Error(`${got.length} outputs instead of ${reference.length}`);
  const allowed = TOLERANCE[dtype] * reference.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  for (const [i, want] of reference.entries()) {
    // Not a number is not right either.
    if (!(Math.abs((got[i] as number) - want) <= allowed)) throw new Error(`output ${i} is ${got[i]}, not ${want}`);
  }
}

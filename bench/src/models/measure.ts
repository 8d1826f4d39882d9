import { setTimeout as sleep } from 'node:timers/promises';
import type { FloatDType } from '@concord/backend-core';
import { callsPerRound, type Schedule } from '../limits/median-ms.ts';
import { NotOffered } from '../peer.ts';
import type { Entry } from '../results.ts';
import { figureOf } from '../table.ts';
import { within } from '../within.ts';
import type { PreparedModel } from './prepared.ts';

/** Share of the largest output that one may be off; f16 is rounded in each layer. */
const TOLERANCE = { f32: 1e-4, f16: 5e-2 } as const;

interface Running {
  readonly prepared: PreparedModel;
  readonly calls: number;
  readonly rounds: number[];
  readonly hostMs: number[];
}

/**
 * Times everybody on one work of a model. Each is compared with the reference first; then come rounds in which they take
 * turns, each starting with another one.
 *
 * @param contestants - what makes the work ready, by their names
 * @param reference - the right outputs, where they are known
 */
export async function measureModel(
  dtype: FloatDType,
  contestants: ReadonlyMap<string, () => Promise<PreparedModel>>,
  reference: Float32Array | undefined,
  { rounds = 7, roundMs = 50, warmMs = 0, pauseMs = 0, takes }: Schedule,
): Promise<Entry[]> {
  const entries = new Map<string, Entry>();
  const running = new Map<string, Running>();
  const open: PreparedModel[] = [];
  const attempt = async (name: string, action: () => Promise<void>): Promise<void> => {
    try {
      await within(action());
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      entries.set(name, { name, ...(error instanceof NotOffered ? { lacks: message } : { failed: message }) });
      running.delete(name);
    }
  };
  for (const [name, prepare] of contestants) {
    await attempt(name, async () => {
      const prepared = await prepare();
      open.push(prepared);
      if (reference !== undefined) checkOutputs(await prepared.outputs(), reference, dtype);
      const calls = await callsPerRound(async (count) => (await timed(prepared, count)).ms, roundMs);
      for (let warm = 0; warm < warmMs;) warm += (await timed(prepared, calls)).ms;
      running.set(name, { prepared, calls, rounds: [], hostMs: [] });
    });
  }
  for (let round = 0; round < rounds; round++) {
    const turn = [...running];
    for (let i = 0; i < turn.length; i++) {
      const [name, own] = turn[(i + round) % turn.length] as [string, Running];
      if (pauseMs > 0) await sleep(pauseMs);
      await attempt(name, async () => {
        const { ms, hostMs } = await timed(own.prepared, own.calls);
        own.rounds.push(ms / own.calls);
        if (hostMs !== undefined) own.hostMs.push(hostMs / own.calls);
      });
    }
  }
  for (const [name, own] of running) entries.set(name, entryOf(name, own, takes));
  // What has failed may fail again at its end; its outcome is known.
  for (const prepared of open) await prepared.close().catch(() => undefined);
  return [...contestants.keys()].map((name) => entries.get(name) as Entry);
}

/** @throws {Error} where the outputs are not those of the reference */
export function checkOutputs(got: Float32Array, reference: Float32Array, dtype: FloatDType): void {
  if (got.length !== reference.length) throw new Error(`${got.length} outputs in place of ${reference.length}`);
  const allowed = TOLERANCE[dtype] * reference.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  for (const [i, want] of reference.entries()) {
    // Not a number is not right either.
    if (!(Math.abs((got[i] as number) - want) <= allowed)) throw new Error(`output ${i} is ${got[i]}, not ${want}`);
  }
}

async function timed(prepared: PreparedModel, count: number): Promise<{ ms: number; hostMs: number | undefined }> {
  const start = performance.now();
  const hostMs = await prepared.calls(count);
  return { ms: performance.now() - start, hostMs };
}

function entryOf(name: string, { rounds, hostMs }: Running, takes: Schedule['takes']): Entry {
  const short = (ms: number): number => Number(ms.toPrecision(4));
  return {
    name,
    ms: short(figureOf(rounds, takes)),
    rounds: rounds.map(short),
    ...(hostMs.length > 0 && { hostMs: short(figureOf(hostMs, takes)) }),
  };
}

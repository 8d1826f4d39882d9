import type { BinaryCall } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { BenchWork } from './bench-case.ts';
import { binaryCase } from './cases/op-cases.ts';
import { measureCase, MIN_ROUNDS, ROUND_MS } from './measure-case.ts';

/** The time of the clock: only calls of the backends below take time. */
let clockMs = 0;
const opened: CpuBackend[] = [];
beforeEach(() => {
  clockMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clockMs);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const backend of opened.splice(0)) await backend.dispose();
});

async function open<T extends CpuBackend>(backend: T): Promise<T> {
  opened.push(backend);
  await backend.init();
  return backend;
}

const work = (): BenchWork => binaryCase('test', 'add', 'add', 1000).prepare();
const schedule = (seconds = 1): { seconds: number; signal: AbortSignal } => ({
  seconds,
  signal: new AbortController().signal,
});

/** Each call takes a given number of milliseconds by the clock, and is counted. */
class SlowBackend extends CpuBackend {
  calls = 0;
  readonly #ms: number;

  constructor(ms: number) {
    super();
    this.#ms = ms;
  }

  override binary(call: BinaryCall): void {
    this.calls++;
    super.binary(call);
    clockMs += this.#ms;
  }
}

/** Right at first, wrong after some calls. */
class TiringBackend extends SlowBackend {
  override binary(call: BinaryCall): void {
    super.binary(this.calls > 5 ? { ...call, op: 'sub' } : call);
  }
}

test('makes rounds of many calls of what is quick', async () => {
  const backend = await open(new SlowBackend(0.5));
  const outcome = await measureCase(work(), backend, schedule());
  expect(outcome).toMatchObject({ status: 'measured', firstCallMs: 0.5, callsPerRound: 48 });
  // Of 24 ms each, as many as end before the second is over.
  expect(outcome).toMatchObject({ roundSeconds: Array.from({ length: 41 }, () => expect.closeTo(0.0005)) });
  expect(backend.memory().liveAllocations).toBe(0);
});

test.each([
  [ROUND_MS + 1, 0.21, 10],
  [ROUND_MS + 1, 0.02, MIN_ROUNDS],
])('a call of %d ms for %d s', async (ms, seconds, rounds) => {
  const outcome = await measureCase(work(), await open(new SlowBackend(ms)), schedule(seconds));
  expect(outcome).toMatchObject({ status: 'measured', callsPerRound: 1 });
  expect(outcome?.status === 'measured' && outcome.roundSeconds).toHaveLength(rounds);
});

/** Reports its queued work as done at once: only a read waits. */
class HastyBackend extends CpuBackend {
  #queued = 0;

  override binary(call: BinaryCall): void {
    super.binary(call);
    this.#queued++;
  }

  override async copyDtoh(...args: Parameters<CpuBackend['copyDtoh']>): Promise<void> {
    clockMs += 0.5 * this.#queued;
    this.#queued = 0;
    await super.copyDtoh(...args);
  }
}

test('a backend whose synchronize does not wait looks no faster than it is', async () => {
  const outcome = await measureCase(work(), await open(new HastyBackend()), schedule());
  expect(outcome).toMatchObject({ status: 'measured', firstCallMs: 0.5, callsPerRound: 48 });
  expect(outcome?.status === 'measured' && outcome.roundSeconds[0]).toBeCloseTo(0.0005);
});

test('measures once what would take far more than its time', async () => {
  const backend = await open(new SlowBackend(2000));
  const outcome = await measureCase(work(), backend, schedule());
  expect(outcome).toMatchObject({ status: 'measured', callsPerRound: 1, roundSeconds: [2] });
  // The first one, and the one that is measured.
  expect(backend.calls).toBe(2);
});

test('tries again where a round took far longer than it was meant to', async () => {
  class Hiccup extends SlowBackend {
    override binary(call: BinaryCall): void {
      super.binary(call);
      if (this.calls === 5) clockMs += 5000;
    }
  }
  const outcome = await measureCase(work(), await open(new Hiccup(1)), schedule());
  expect(outcome).toMatchObject({ status: 'measured', callsPerRound: 24 });
});

test('finds a result that is wrong, at once or in the end', async () => {
  class Idle extends CpuBackend {
    override binary(): void {}
  }
  const idle = await measureCase(work(), await open(new Idle()), schedule());
  expect(idle).toEqual({ status: 'wrong', detail: expect.stringMatching(/^entry 0 is NaN, want -?[\d.]+$/) });
  const tiring = await measureCase(work(), await open(new TiringBackend(ROUND_MS)), schedule());
  expect(tiring).toEqual({ status: 'wrong', detail: expect.stringMatching(/, after \d+ rounds$/) });
});

test('says what is unsupported, and leaves out what does not fit', async () => {
  const backend = await open(new CpuBackend());
  const lacking = Object.assign(await open(new CpuBackend()), { supports: () => ({ ok: false, reason: 'no kernel' }) });
  expect(await measureCase(work(), lacking, schedule())).toEqual({ status: 'unsupported', detail: 'no kernel' });
  const huge = { ...work(), outputLength: 2 ** 40 };
  expect(await measureCase(huge, backend, schedule())).toMatchObject({ status: 'skipped' });
  expect(backend.memory().liveAllocations).toBe(0);
});

test('ends when it is aborted, and keeps the rounds that are over', async () => {
  const backend = await open(new CpuBackend());
  expect(await measureCase(work(), backend, { seconds: 1, signal: AbortSignal.abort() })).toBeUndefined();
  const controller = new AbortController();
  class Interrupted extends SlowBackend {
    override binary(call: BinaryCall): void {
      super.binary(call);
      if (this.calls === 4) controller.abort();
    }
  }
  const interrupted = await open(new Interrupted(ROUND_MS + 1));
  const outcome = await measureCase(work(), interrupted, { seconds: 60, signal: controller.signal });
  expect(outcome?.status).toBe('measured');
  expect(interrupted.calls).toBe(4);
});

test('passes other errors on, and frees what it took', async () => {
  class Failing extends CpuBackend {
    override binary(): void {
      throw new Error('no');
    }
  }
  const backend = await open(new Failing());
  await expect(measureCase(work(), backend, schedule())).rejects.toThrow('no');
  expect(backend.memory().liveAllocations).toBe(0);
});

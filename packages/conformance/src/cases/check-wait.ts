import type { ComputeBackend, DevicePtr } from '@concord/backend-core';
import { type CaseContext, CaseFailure } from '../harness/case.ts';

/** Milliseconds of work that tell a wait from none, and the largest product that is tried. */
const ENOUGH_MS = 100;
const MAX_SIZE = 2048;
/** The maximum number of products after each other, where one of the largest takes less. */
const MAX_CALLS = 1024;
/** Of the time of all that a read may take which has nothing to wait for. */
const MAX_SHARE = 1 / 4;
/** A machine that is busy with something else may stop a read for a moment, but not each time. */
const TRIES = 3;

interface Times {
  /** Until `synchronize` resolved. */
  readonly waited: number;
  /** Of a read of four bytes of the result after it. */
  readonly read: number;
}

/**
 * When `synchronize` has resolved, the work is done: reading its result takes as long as a copy. Where that is a good part of
 * the time of all, it is the read that waited.
 */
export async function checkWait({ backend }: CaseContext): Promise<void> {
  const words = MAX_SIZE ** 2;
  const [a, c] = [backend.alloc(4 * words), backend.alloc(4 * words)];
  try {
    backend.fill(a, 0, 4 * words);
    let [size, calls] = [128, 1];
    const once = (): Promise<Times> => time(backend, { size, calls, a, c });
    // The first call of each size builds kernels.
    for (;;) {
      await once();
      const { waited, read } = await once();
      if (waited + read >= ENOUGH_MS) break;
      if (size < MAX_SIZE) size *= 2;
      else if (calls < MAX_CALLS) calls *= 2;
      else break;
    }
    let times: Times = { waited: 0, read: 0 };
    for (let attempt = 0; attempt < TRIES; attempt++) {
      times = await once();
      if (times.read < MAX_SHARE * (times.waited + times.read)) return;
    }
    const ms = (value: number): string => `${value.toFixed(1)} ms`;
    throw new CaseFailure(
      `synchronize resolved before the work was done: ${calls} products of ${size}x${size} and the wait took ${ms(times.waited)}, ` +
        `and a read of 4 bytes after it ${ms(times.read)}`,
    );
  } finally {
    backend.free(a);
    backend.free(c);
  }
}

interface Work {
  readonly size: number;
  readonly calls: number;
  readonly a: DevicePtr;
  readonly c: DevicePtr;
}

async function time(backend: ComputeBackend, { size, calls, a, c }: Work): Promise<Times> {
  const word = new Float32Array(1);
  const start = performance.now();
  for (let call = 0; call < calls; call++) backend.gemm({ m: size, n: size, k: size, a, b: a, c });
  await backend.synchronize();
  const synced = performance.now();
  await backend.copyDtoh(word, c);
  return { waited: synced - start, read: performance.now() - synced };
}

import type { ComputeBackend } from '@concord/backend-core';
import { placeWork } from '@concord/cli/bench';
import type { LimitCase } from './limits/cases.ts';
import { row, table } from './table.ts';

/** The cost of the first call of a case on a device that was just opened, in milliseconds until its result is there. */
export interface FirstCall {
  readonly op: string;
  readonly case: string;
  readonly firstMs: number;
  /** `prepare`, which an application can await while it does something else. */
  readonly prepareMs: number;
  /** The first call after it. */
  readonly preparedMs: number;
  /** The second call with its wait; later ones take the same time. */
  readonly laterMs: number;
}

/**
 * Measures first calls, each on a new device.
 *
 * @param create - makes a backend that shares no device with one that is disposed
 */
export async function measureFirstCalls(
  cases: readonly LimitCase[],
  create: () => ComputeBackend,
): Promise<FirstCall[]> {
  const found: FirstCall[] = [];
  for (const limitCase of cases) {
    // A copy has none: `prepare` has nothing to do for it.
    if (limitCase.plan === undefined) continue;
    const plain = await withTrial(create, limitCase, async (call) => ({
      firstMs: await call(),
      laterMs: await call(),
    }));
    const prepared = await withTrial(create, limitCase, async (call, prepare) => ({
      prepareMs: await prepare(),
      preparedMs: await call(),
    }));
    found.push({ op: limitCase.op, case: limitCase.name, ...plain, ...prepared });
  }
  return found;
}

/** The measurements as a Markdown table. */
export function formatFirstCalls(calls: readonly FirstCall[]): string {
  const millis = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
  const rows = calls.map(({ op, case: name, ...ms }) =>
    row(`${op} ${name}`, ...[ms.firstMs, ms.prepareMs, ms.preparedMs, ms.laterMs].map(millis)),
  );
  return `### The first call\n\n${table(['milliseconds', 'first call', '`prepare`', 'first call after it', 'later calls'], rows)}`;
}

type Timed = () => Promise<number>;

async function withTrial<T>(
  create: () => ComputeBackend,
  limitCase: LimitCase,
  measure: (call: Timed, prepare: Timed) => Promise<T>,
): Promise<T> {
  const backend = create();
  await backend.init();
  try {
    const placed = placeWork(limitCase, backend);
    await backend.synchronize();
    const call = (): Promise<number> =>
      millisOf(async () => {
        await placed.call();
        await backend.synchronize();
      });
    return await measure(call, () =>
      millisOf(() => backend.prepare(limitCase.plan === undefined ? [] : [limitCase.plan])),
    );
  } finally {
    await backend.dispose();
  }
}

async function millisOf(action: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

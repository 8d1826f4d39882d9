import type { LevelZeroClient } from '../../src/device/level-zero-client.ts';
import type { FunctionName, LevelZeroApi } from '../../src/ffi/prototypes.ts';

type LevelZeroFunction = LevelZeroApi[FunctionName];

/** A function of Level Zero in a version of a test's. */
export interface Replacement {
  /** Instead of a call. */
  readonly call?: (original: (...args: unknown[]) => number, args: unknown[]) => number;
  /** A result instead of a call on this thread or another; undefined for the original's. */
  readonly fails?: () => number | undefined;
  /** Told when a call on a thread of koffi's begins, and when it is back, by the first argument. */
  readonly onAsync?: (first: unknown, isBegin: boolean) => void;
}

/** Replaces functions of Level Zero while `body` runs, for all clients of this process. */
export async function replaced(
  { library: { api } }: LevelZeroClient,
  replacements: Readonly<Partial<Record<FunctionName, Replacement>>>,
  body: () => Promise<void>,
): Promise<void> {
  const originals: [FunctionName, LevelZeroFunction][] = [];
  for (const [name, { call, fails, onAsync }] of Object.entries(replacements) as [FunctionName, Replacement][]) {
    const original = api[name];
    const plain = original as unknown as (...args: unknown[]) => number;
    const value = (...args: unknown[]): number =>
      fails?.() ?? (call === undefined ? plain(...args) : call(plain, args));
    value.async = (...args: unknown[]): void => {
      const callback = args.pop() as (...answer: unknown[]) => void;
      const back = (...answer: unknown[]): void => {
        onAsync?.(args[0], false);
        callback(...answer);
      };
      onAsync?.(args[0], true);
      const failure = fails?.();
      if (failure !== undefined) setImmediate(back, null, failure);
      else (original.async as (...all: unknown[]) => void)(...args, back);
    };
    originals.push([name, original]);
    Object.defineProperty(api, name, { value });
  }
  try {
    await body();
  } finally {
    for (const [name, value] of originals) Object.defineProperty(api, name, { value });
  }
}

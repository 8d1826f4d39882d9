import type { LevelZeroClient } from '../../src/device/level-zero-client.ts';

/** Counters of the software driver, for the whole process. */
const COUNTERS = [
  'contexts',
  'queues',
  'lists',
  'fences',
  'modules',
  'kernels',
  'allocations',
  'allocatedBytes',
  'launches',
  'copies',
] as const;

export type LiveObjects = Record<(typeof COUNTERS)[number], number>;

/** Functions of the software driver beyond Level Zero's, through a client that is open. */
export interface DriverSwitches {
  readonly live: () => LiveObjects;
  readonly lose: () => void;
  /** The next command that runs takes this many nanoseconds more. */
  readonly delayNext: (nanoseconds: number) => void;
}

/** The client may be opened later, before the first use. */
export function driverSwitches(client: LevelZeroClient): DriverSwitches {
  const call = (name: string, parameters: string[], ...args: unknown[]): number => {
    const { api, koffi, driver } = client.native;
    const slot = new BigUint64Array(1);
    const result = api.zeDriverGetExtensionFunctionAddress(driver, new TextEncoder().encode(`${name}\0`), slot);
    if (result !== 0) throw new Error(`the driver has no ${name}: these tests run on the software driver`);
    const made = koffi.decode(slot[0], koffi.proto('uint32_t', parameters)) as (...given: unknown[]) => number;
    return made(...args);
  };
  return {
    live: () => {
      const counts = new BigUint64Array(COUNTERS.length);
      call('concordGetLiveObjects', ['void *'], counts);
      return Object.fromEntries(COUNTERS.map((name, index) => [name, Number(counts[index])])) as LiveObjects;
    },
    lose: () => void call('concordLoseDevice', []),
    delayNext: (nanoseconds) => void call('concordDelayNext', ['uint64_t'], nanoseconds),
  };
}

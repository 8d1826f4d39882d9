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

export function driverSwitches({ native: { api, koffi, driver } }: LevelZeroClient): DriverSwitches {
  const bind = (name: string, parameters: string[]): ((...args: unknown[]) => number) => {
    const slot = new BigUint64Array(1);
    const result = api.zeDriverGetExtensionFunctionAddress(driver, new TextEncoder().encode(`${name}\0`), slot);
    if (result !== 0) throw new Error(`the driver has no ${name}: these tests run on the software driver`);
    return koffi.decode(slot[0], koffi.proto('uint32_t', parameters)) as (...args: unknown[]) => number;
  };
  const getLive = bind('concordGetLiveObjects', ['void *']);
  const lose = bind('concordLoseDevice', []);
  const delay = bind('concordDelayNext', ['uint64_t']);
  return {
    live: () => {
      const counts = new BigUint64Array(COUNTERS.length);
      getLive(counts);
      return Object.fromEntries(COUNTERS.map((name, index) => [name, Number(counts[index])])) as LiveObjects;
    },
    lose: () => void lose(),
    delayNext: (nanoseconds) => void delay(nanoseconds),
  };
}

/** WebGPU's calls of one launch, whose time is the engine's and not ours. */
const REPLACED = ['setPipeline', 'setBindGroup', 'dispatchWorkgroups'] as const;

/** Native calls that a warm launch should do without. */
const COUNTED = ['createBindGroup', 'createBuffer'] as const;

/** The same of its queue. */
const QUEUED = ['writeBuffer', 'submit'] as const;

/** How often something was called since it was last asked. */
export type NativeCounts = Readonly<
  Record<'dispatchWorkgroups' | (typeof COUNTED)[number] | (typeof QUEUED)[number], number>
>;

/** Puts functions in the place of a device's native calls. */
export interface NativeCalls {
  /** The counts since the last time, which begin at 0 again. */
  take(): NativeCounts;
  /** Puts the device's own functions back. */
  restore(): void;
}

type Method = (...args: unknown[]) => unknown;

/**
 * Makes the calls that passes consist of do nothing on all devices of the engine, and counts them and others that cost the host
 * time. Nothing is computed from then on.
 */
export function replaceNativeCalls(device: GPUDevice): NativeCalls {
  const counts: Record<string, number> = {};
  const restores: (() => void)[] = [];
  const count = (target: object, name: string, isCalled: boolean): void => {
    const own = Reflect.get(target, name) as Method;
    const counted = function (this: unknown, ...args: unknown[]): unknown {
      counts[name] = (counts[name] ?? 0) + 1;
      return isCalled ? own.apply(this, args) : undefined;
    };
    Object.defineProperty(target, name, { value: counted, configurable: true, writable: true });
    restores.push(() => Object.defineProperty(target, name, { value: own, configurable: true, writable: true }));
  };
  const pass = device.createCommandEncoder().beginComputePass();
  const passes = Object.getPrototypeOf(pass) as object;
  for (const name of REPLACED) count(passes, name, false);
  for (const name of COUNTED) count(Object.getPrototypeOf(device) as object, name, true);
  for (const name of QUEUED) count(Object.getPrototypeOf(device.queue) as object, name, true);
  return {
    take() {
      const names = ['dispatchWorkgroups', ...COUNTED, ...QUEUED] as const;
      const taken = Object.fromEntries(names.map((name) => [name, counts[name] ?? 0])) as NativeCounts;
      for (const name of Object.keys(counts)) delete counts[name];
      return taken;
    },
    restore: () => restores.splice(0).forEach((restore) => restore()),
  };
}

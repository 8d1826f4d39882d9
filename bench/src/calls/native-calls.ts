/** WebGPU's calls of one launch besides its dispatch, whose time is the engine's and not ours. */
const REPLACED = ['setPipeline', 'setBindGroup'] as const;

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
  let dispatches = 0;
  const replace = (target: object, name: string, by: (own: Method) => Method): void => {
    const own = Reflect.get(target, name) as Method;
    Object.defineProperty(target, name, { value: by(own), configurable: true, writable: true });
    restores.push(() => Object.defineProperty(target, name, { value: own, configurable: true, writable: true }));
  };
  const counted = (name: string) => (own: Method) =>
    function (this: unknown, ...args: unknown[]): unknown {
      counts[name] = (counts[name] ?? 0) + 1;
      return own.apply(this, args);
    };
  const pass = device.createCommandEncoder().beginComputePass();
  const passes = Object.getPrototypeOf(pass) as object;
  // These are called with each launch: they must take no time of their own.
  for (const name of REPLACED) replace(passes, name, () => () => undefined);
  replace(passes, 'dispatchWorkgroups', () => () => void dispatches++);
  for (const name of COUNTED) replace(Object.getPrototypeOf(device) as object, name, counted(name));
  for (const name of QUEUED) replace(Object.getPrototypeOf(device.queue) as object, name, counted(name));
  return {
    take() {
      const named = [...COUNTED, ...QUEUED].map((name) => [name, counts[name] ?? 0]);
      const taken = { dispatchWorkgroups: dispatches, ...Object.fromEntries(named) } as NativeCounts;
      dispatches = 0;
      for (const name of Object.keys(counts)) delete counts[name];
      return taken;
    },
    restore: () => restores.splice(0).forEach((restore) => restore()),
  };
}

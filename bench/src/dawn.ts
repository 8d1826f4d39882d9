/** The part of the `webgpu` package that is used; its own types clash with TypeScript's. */
interface DawnModule {
  readonly create: (options: readonly string[]) => GPU;
  readonly globals: object;
}

/** Dawn crashes when an object that `create` gave is collected. */
const instances: GPU[] = [];

/**
 * Makes a Dawn the `navigator.gpu` of this process, where peers look for it, with the constants that they use.
 *
 * Dawn's binding calls `setImmediate` in a tight loop during a wait, which takes a core from a device that
 * computes on the cores. With `pauses` it pauses for a millisecond instead from here on, for every wait in the process.
 */
export async function installNavigator({ pauses }: { readonly pauses: boolean }): Promise<void> {
  const name = 'webgpu';
  const { create, globals } = (await import(name)) as DawnModule;
  const gpu = create(['disable-dawn-features=timestamp_quantization']);
  instances.push(gpu);
  Object.assign(globalThis, globals);
  Object.defineProperty(globalThis, 'navigator', { value: { gpu, userAgent: 'Node' }, configurable: true });
  if (pauses) {
    globalThis.setImmediate = ((callback: () => void) => setTimeout(callback, 1)) as unknown as typeof setImmediate;
  }
}

import type { Kernel } from './graph.ts';

const known = new WeakMap<object, Kernel>();

/** Notes that `kernel`, whose graph is sound because this copy of the package made it, is what `value` stands for. */
export function noteKernel(value: object, kernel: Kernel): void {
  known.set(value, kernel);
}

/** The arguments of {@link noteKernel}. */
export function knownKernel(value: object): Kernel | undefined {
  return known.get(value);
}

import type { Kernel } from '@concord/backend-core/kernel';

/** The kernels of a function by their differences, each defined when it is first needed. */
export class Kernels {
  readonly #defined = new Map<string, Kernel>();

  /**
   * The kernel of a key.
   *
   * @throws {BackendError} as `define`
   */
  of(key: string, define: () => Kernel): Kernel {
    let kernel = this.#defined.get(key);
    if (kernel === undefined) this.#defined.set(key, (kernel = define()));
    return kernel;
  }
}

import type { BackendError } from '@concord/backend-core';

/**
 * Kernels that the device refused after an op with them was accepted. The ops before and after are fine, so the error is
 * not for ever: it goes to the waits under way when it turns up, or else to the next one.
 */
export class Refusals {
  readonly #all = new WeakSet<BackendError>();
  #last: BackendError | undefined;
  #count = 0;
  /** The last one has not been reported. */
  #isNews = false;

  add(error: BackendError): void {
    this.#all.add(error);
    this.#last = error;
    this.#count++;
    this.#isNews = true;
  }

  has(error: BackendError): boolean {
    return this.#all.has(error);
  }

  /** Called when a wait begins. What it gives throws, at the end of the wait, an error that the wait is to reject with. */
  watch(): () => void {
    const first = this.#isNews ? this.#count - 1 : this.#count;
    return () => {
      if (this.#last === undefined || this.#count <= first) return;
      this.#isNews = false;
      throw this.#last;
    };
  }
}

import { type Selection, selectBackend } from '@concord/backend-core';
import { cpu } from '@concord/backend-cpu';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';

/** Which backends may be used, the first that works: what the page's menu offers. */
export type Preference = 'webgpu' | 'wasm' | 'cpu';

const NAMES: Readonly<Record<Preference, readonly string[]>> = {
  // Without a preference the registry ranks WebGPU on a software device after the other two. This page shows WebGPU.
  webgpu: ['webgpu', 'wasm', 'cpu'],
  wasm: ['wasm', 'cpu'],
  cpu: ['cpu'],
};

/** The backend in use. It is chosen when it is first asked for, and again after it was lost. */
export class Session {
  #preference: Preference | undefined;
  #selection: Promise<Selection> | undefined;

  /**
   * The backend for a preference, and why each other one was passed over.
   *
   * @param onLost - called with the reason when its device is lost
   * @throws {BackendError} BACKEND_UNAVAILABLE
   */
  async open(preference: Preference, onLost: (message: string) => void): Promise<Selection> {
    if (this.#selection !== undefined && preference === this.#preference) return this.#selection;
    await this.#close();
    const selection = selectBackend([webgpu(), wasm(), cpu()], { prefer: NAMES[preference] });
    this.#preference = preference;
    this.#selection = selection;
    const forget = (): void => {
      if (this.#selection === selection) this.#selection = undefined;
    };
    selection.then(async ({ backend }) => {
      const { reason, message } = await backend.lost;
      forget();
      if (reason === 'device-lost') onLost(message);
    }, forget);
    return selection;
  }

  async #close(): Promise<void> {
    const selection = this.#selection;
    this.#selection = undefined;
    // What cannot be opened or closed needs no closing.
    await selection?.then(({ backend }) => backend.dispose()).catch(() => undefined);
  }
}

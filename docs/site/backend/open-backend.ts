import {
  type Attempt,
  type BackendProvider,
  type ComputeBackend,
  isBackendError,
  type Requirement,
  selectBackend,
} from '@concord/backend-core';
import { BACKEND_NAMES, type BackendName } from '../playground/backend-names.ts';

/** Only what is tried is loaded. WebAssembly is faster on a CPU than its imitation of a GPU, which has to be chosen. */
const PROVIDERS: Readonly<Record<BackendName, (isChosen: boolean) => Promise<BackendProvider>>> = {
  webgpu: async (isChosen) => (await import('@concord/backend-webgpu')).webgpu(isChosen ? {} : { software: 'refuse' }),
  wasm: async () => (await import('@concord/backend-wasm')).wasm(),
  cpu: async () => (await import('@concord/backend-cpu')).cpu(),
};

/** What a worker computes on, and what was tried. */
export interface Ran {
  readonly name: string;
  readonly attempts: readonly Attempt[];
}

/**
 * Opens a backend, loading only what is tried.
 *
 * @param wanted - undefined: the first that works
 * @throws {Error} where none does, with the reasons
 */
export async function openBackend(
  wanted: BackendName | undefined,
  require: readonly Requirement[],
): Promise<Ran & { readonly backend: ComputeBackend }> {
  const attempts: Attempt[] = [];
  for (const name of wanted === undefined ? BACKEND_NAMES : [wanted]) {
    try {
      const selection = await selectBackend([await PROVIDERS[name](wanted !== undefined)], { prefer: [name], require });
      return { name, attempts: [...attempts, ...selection.attempts], backend: selection.backend };
    } catch (error) {
      if (!isBackendError(error) || error.attempts === undefined) throw error;
      attempts.push(...error.attempts);
    }
  }
  throw new Error(attempts.map(({ provider, message }) => `${provider}: ${message ?? 'not usable'}`).join('; '));
}

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

/** What a worker says of the backend that it opened, and of those that did not work. */
export interface OpenedBackend {
  readonly kind: 'backend';
  readonly name: string;
  readonly attempts: readonly Attempt[];
}

/**
 * Opens a backend.
 *
 * @param wanted - default: the first that works
 * @throws {Error} where none works
 */
export async function openBackend(
  wanted: BackendName | undefined,
  require: readonly Requirement[],
  onOpened: (opened: OpenedBackend) => void,
): Promise<ComputeBackend> {
  const attempts: Attempt[] = [];
  for (const name of wanted === undefined ? BACKEND_NAMES : [wanted]) {
    try {
      const provider = await PROVIDERS[name](wanted !== undefined);
      const selection = await selectBackend([provider], { prefer: [name], require });
      onOpened({ kind: 'backend', name, attempts: [...attempts, ...selection.attempts] });
      return selection.backend;
    } catch (error) {
      if (!isBackendError(error) || error.attempts === undefined) throw error;
      attempts.push(...error.attempts);
    }
  }
  throw new Error(attempts.map(({ provider, message }) => `${provider}: ${message ?? 'not usable'}`).join('; '));
}

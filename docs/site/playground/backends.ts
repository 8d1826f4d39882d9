import { type Attempt, type BackendProvider, isBackendError, selectBackend } from '@concord/backend-core';
import { cpu } from '@concord/backend-cpu';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import { BACKEND_NAMES, type BackendName } from './backend-names.ts';

const PROVIDERS: Readonly<Record<BackendName, () => BackendProvider>> = { webgpu, wasm, cpu };

/** The provider of a backend. */
export function providerOf(name: BackendName): BackendProvider {
  return PROVIDERS[name]();
}

/**
 * Tries each backend by itself, as the registry does: opened, tested, closed again.
 *
 * @returns an attempt for each, in the order of {@link BACKEND_NAMES}
 */
export async function tryBackends(): Promise<readonly Attempt[]> {
  const attempts: Attempt[] = [];
  for (const name of BACKEND_NAMES) {
    try {
      const selection = await selectBackend([providerOf(name)], { prefer: [name] });
      attempts.push(...selection.attempts);
      await selection.backend.dispose().catch(() => undefined);
    } catch (error) {
      if (!isBackendError(error) || error.attempts === undefined) throw error;
      attempts.push(...error.attempts);
    }
  }
  return attempts;
}

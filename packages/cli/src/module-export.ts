import type { BackendProvider, ComputeBackend } from '@concord/backend-core';

/** That of the registry. */
const CONTRACT_VERSION = 2;

/** Returns whether a value is what applications pass to `selectBackend`. */
export function isProvider(value: unknown): value is BackendProvider {
  const { name, probe, create } = (value ?? {}) as Partial<BackendProvider>;
  return typeof name === 'string' && typeof probe === 'function' && typeof create === 'function';
}

function isBackend(value: unknown): value is ComputeBackend {
  const { init, dispose, alloc, gemm } = (value ?? {}) as Partial<ComputeBackend>;
  return [init, dispose, alloc, gemm].every((method) => typeof method === 'function');
}

/** Returns whether a value is a class whose objects are backends; nothing is called to find out. */
export function isBackendClass(value: unknown): value is new () => ComputeBackend {
  return typeof value === 'function' && isBackend(value.prototype);
}

/**
 * The provider that an export is, makes, or stands for: a provider, a function that gives one, a function that gives a
 * backend, or the class of a backend.
 *
 * @throws {TypeError} what the export is instead of these, to be read after its name
 */
export async function providerOf(exported: unknown): Promise<BackendProvider> {
  if (isBackendClass(exported)) return providerAround(() => new exported());
  const made: unknown = typeof exported === 'function' ? await (exported as () => unknown)() : exported;
  if (isProvider(made)) {
    if (made.contractVersion === CONTRACT_VERSION) return made;
    throw new TypeError(
      `speaks contract version ${String(made.contractVersion)}, this command speaks ${CONTRACT_VERSION}`,
    );
  }
  if (typeof exported === 'function' && isBackend(made)) {
    await made.dispose();
    return providerAround(exported as () => Promise<ComputeBackend> | ComputeBackend);
  }
  throw new TypeError(typeof exported === 'function' ? 'gives neither a provider nor a backend' : 'is no provider');
}

/** The facts about a backend without a provider: its name, from an object that is never initialized. */
async function providerAround(create: () => Promise<ComputeBackend> | ComputeBackend): Promise<BackendProvider> {
  const sample = await create();
  const { name } = sample;
  await sample.dispose();
  return {
    name,
    priority: 0,
    contractVersion: CONTRACT_VERSION,
    // Whether there is a device is for `init` to say.
    probe: () => Promise.resolve({ available: true, devices: [] }),
    create,
  };
}

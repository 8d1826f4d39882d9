import {
  type Attempt,
  type ComputeBackend,
  type Requirement,
  selectBackend,
  type Selection,
} from '@concord/backend-core';
import { cpu } from '@concord/backend-cpu';
import { levelZero } from '@concord/backend-levelzero';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import { UserError } from './user-error.ts';

/** The backends that the examples can run on. The registry takes the best one that works. */
const providers = [levelZero(), webgpu(), wasm(), cpu()];

/**
 * The value of `--backend`: names separated by commas.
 *
 * @throws {UserError} INVALID_ARGUMENT for a name that no backend has
 */
export function backendNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const known = providers.map(({ name }) => name);
  const unknown = names.find((name) => name !== '' && !known.includes(name));
  if (unknown === undefined) return names.filter((name) => name !== '');
  const message = `no backend "${unknown}"; there are: ${known.join(', ')}`;
  throw new UserError('INVALID_ARGUMENT', message, { hint: 'check the option --backend' });
}

/**
 * Opens the best backend that works here, or the first that works of those asked for. The caller disposes of it.
 *
 * @param names - the value of `--backend`
 * @param require - the ops that the backend must have
 * @throws {BackendError} BACKEND_UNAVAILABLE where none works
 */
export function openBackend(names: readonly string[] | undefined, require: readonly Requirement[]): Promise<Selection> {
  return selectBackend(providers, { require, ...(names === undefined ? {} : { prefer: names }) });
}

/** Runs `work` on the backend of {@link openBackend}, then disposes of it. */
export async function withBackend<T>(
  names: readonly string[] | undefined,
  require: readonly Requirement[],
  work: (backend: ComputeBackend, attempts: readonly Attempt[]) => Promise<T>,
): Promise<T> {
  const { backend, attempts } = await openBackend(names, require);
  try {
    return await work(backend, attempts);
  } finally {
    await backend.dispose();
  }
}

/** The backend of a result, in text. */
export function deviceText({ name, device }: Pick<ComputeBackend, 'name' | 'device'>): string {
  return `${name}: ${device.name} [${device.type}]`;
}

/** The backend of a result, in JSON. */
export function deviceFields({ name, device }: ComputeBackend): { readonly backend: string; readonly device: string } {
  return { backend: name, device: device.name };
}

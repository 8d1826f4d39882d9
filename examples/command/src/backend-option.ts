import {
  type Attempt,
  type ComputeBackend,
  type Requirement,
  selectBackend,
  type Selection,
} from '@concord/backend-core';
import { Option } from 'commander';
import { providers } from './providers.ts';
import { UserError } from './user-error.ts';

/** `--backend <names>`, separated by commas. */
export function backendOption(): Option {
  const option = new Option('--backend <names>', 'use one of these, in this order (default: the best that works)');
  return option.argParser((names: string) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
}

/**
 * Opens the best backend that works here, or the first that works of those asked for. The caller disposes of it.
 *
 * @param names - the value of `--backend`
 * @param require - the ops that the backend must have
 * @throws {BackendError} BACKEND_UNAVAILABLE where none works
 */
export function openBackend(names: readonly string[] | undefined, require: readonly Requirement[]): Promise<Selection> {
  return selectBackend(providers(), { require, ...(names === undefined ? {} : { prefer: names }) });
}

/**
 * Runs `work` on the best backend that works here, or on the first that works of those asked for, then disposes of it.
 *
 * @param names - the value of `--backend`
 * @param require - the ops that the backend must have
 * @throws {BackendError} BACKEND_UNAVAILABLE where none works
 */
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

/**
 * Refuses a wrong `--backend`. `selectBackend` would too, but does not know which option a name came from.
 *
 * @throws {UserError} INVALID_ARGUMENT for a name that no backend has
 */
export function checkBackendNames(names: readonly string[] = []): void {
  const known = providers().map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const message = `no backend "${unknown}"; there are: ${known.join(', ')}`;
  throw new UserError('INVALID_ARGUMENT', message, { hint: 'check the option --backend' });
}

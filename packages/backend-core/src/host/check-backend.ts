import type { ComputeBackend } from '../contract/backend.ts';
import { describe } from '../contract/checks.ts';
import { invalid } from '../errors/invalid.ts';

/**
 * The most likely mistakes: no backend, a promise of one, or the whole result of `selectBackend`.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkBackend(helper: string, backend: unknown): void {
  if (typeof (backend as ComputeBackend | undefined)?.copyHtod === 'function') return;
  throw invalid(`${helper} takes a backend first, got ${describe(backend)}`, {
    hint: 'const { backend } = await selectBackend(...)',
  });
}

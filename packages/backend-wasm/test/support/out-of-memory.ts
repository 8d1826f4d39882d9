import { BackendError } from '@concord/backend-core';

/** What a memory throws that does not grow. */
export function outOfMemory(): BackendError {
  return new BackendError('OUT_OF_MEMORY', 'the memory is full');
}

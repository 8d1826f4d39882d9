import { BackendError } from '@concord/backend-core';

/** The error of a memory that cannot grow. */
export function outOfMemory(): BackendError {
  return new BackendError('OUT_OF_MEMORY', 'the memory is full');
}

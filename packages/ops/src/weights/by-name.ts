import type { BackendError } from '@concord/backend-core';
import { nearestName } from '@concord/backend-core/implement';
import { refuse } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Names that JavaScript itself asks any object for, in `await` and `JSON.stringify`. */
const ASKED_OF_ALL = ['then', 'toJSON'];

/** Names that an error lists where none is near. */
const LISTED = 8;

/**
 * Tensors by name, as a plain object; but to read a name that it does not have throws, so that a misspelt one is found where
 * it stands. `name in weights` asks.
 */
export function byName(tensors: ReadonlyMap<string, Tensor>): Record<string, Tensor> {
  return new Proxy(Object.fromEntries(tensors), {
    get(record, name) {
      if (typeof name === 'string' && !(name in record) && !ASKED_OF_ALL.includes(name)) {
        throw missing('the file', name, Object.keys(record));
      }
      return Reflect.get(record, name) as unknown;
    },
  });
}

/** The error about a tensor that is not among `names`, with the nearest one. */
export function missing(what: string, name: string, names: readonly string[]): BackendError {
  const near = nearestName(name, names);
  const listed = names.slice(0, LISTED).join(', ') + (names.length > LISTED ? ', ...' : '');
  const hint = near === undefined ? `it has ${listed || 'none'}` : `did you mean ${near}?`;
  return refuse('safetensors', `${what} has no tensor ${name.slice(0, 200)}; ${hint}`);
}

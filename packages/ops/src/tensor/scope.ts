import { describe } from '@concord/backend-core/implement';
import { refuse } from './errors.ts';
import { Tensor } from './tensor.ts';

/** The tensors of each `tidy` that runs, the innermost last. */
const scopes: Tensor[][] = [];

/** Leaves a new tensor to the innermost `tidy`; without one the collector watches over it. */
export function adopt(tensor: Tensor): void {
  const scope = scopes.at(-1);
  if (scope === undefined) tensor.watch();
  else scope.push(tensor);
}

/**
 * Runs a function and disposes every tensor that was made in it, except those in what it returns: a tensor, or arrays, objects,
 * Maps and Sets that hold tensors, however deep. Of an instance of a class it looks at the instance's own properties; it cannot
 * see private fields (`#x`), or what a returned function has closed over. Disposes all tensors when the function throws.
 * May be nested: what the inner one returns belongs to the outer one.
 *
 * @throws {BackendError} INVALID_ARGUMENT for what is no function, and when the function returns a promise: tensors made after its first `await` would
 *   be missed
 * @example
 * ```ts
 * using y = tidy(() => {
 *   const x = tensor(backend, [1, 2, 3]);
 *   return mul(add(x, 1), 2);
 * });
 * await y.toArray(); // [4, 6, 8]
 * ```
 */
export function tidy<Result>(work: () => Result): Result {
  if (typeof work !== 'function') throw refuse('tidy', `takes a function, got ${describe(work)}`);
  const scope: Tensor[] = [];
  scopes.push(scope);
  let kept: ReadonlySet<Tensor> | Tensor | undefined;
  try {
    const result = work();
    if (isPromise(result)) {
      // Whatever it still does is not to end in an unhandled rejection besides.
      result.then(undefined, () => undefined);
      throw refuse('tidy', 'takes a function that returns at once, got one that returns a promise', {
        hint: 'make the tensors in a plain function, and await what it returns outside of tidy',
      });
    }
    kept = result instanceof Tensor ? result : tensorsIn(result);
    return result;
  } finally {
    scopes.pop();
    for (const tensor of scope) {
      const isKept = kept instanceof Tensor ? kept === tensor : kept?.has(tensor) === true;
      if (!isKept) tensor.dispose();
      else if (!tensor.isDisposed) adopt(tensor);
    }
  }
}

/** Runs a function, and adds the tensors that it makes and no `tidy` in it disposes to `tensors`. */
export function keepAll<Result>(tensors: Tensor[], work: () => Result): Result {
  scopes.push(tensors);
  try {
    return work();
  } finally {
    scopes.pop();
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}

function tensorsIn(result: unknown): ReadonlySet<Tensor> | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const found = new Set<Tensor>();
  // A result may hold itself, and be deeper than the stack.
  const seen = new Set<unknown>();
  const waiting: unknown[] = [result];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (value instanceof Tensor) found.add(value);
    else if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !seen.has(value)) {
      seen.add(value);
      for (const each of Object.values(value) as unknown[]) waiting.push(each);
      if (value instanceof Map || value instanceof Set) for (const entry of value.entries()) waiting.push(...entry);
    }
  }
  return found;
}

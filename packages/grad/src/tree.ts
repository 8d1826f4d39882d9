import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { Tensor } from '@concord/ops';
import { invalidArgument } from './errors.ts';

/** A tensor, or lists and plain objects of them, with whatever is between them. */
export type Tree = unknown;

/** A tree with other tensors. Everything else is as it was. */
export function mapTensors<T>(tree: T, change: (x: Tensor, path: string) => Tensor, path = ''): T {
  if (tree instanceof Tensor) return change(tree, path) as T;
  if (Array.isArray(tree))
    return tree.map((each: unknown, index) => mapTensors(each, change, `${path}[${index}]`)) as T;
  if (typeof tree !== 'object' || tree === null) return tree;
  if (![Object.prototype, null].includes(Object.getPrototypeOf(tree) as object | null)) return tree;
  const entries = Object.entries(tree).map(([name, each]) => [
    name,
    mapTensors(each as unknown, change, path + (/^[\w$]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`)),
  ]);
  return Object.fromEntries(entries) as T;
}

/** The tensors of a tree, in its order. */
export function tensorsOf(tree: Tree): Tensor[] {
  return byPath(tree).map(([, x]) => x);
}

/** The tensors of a tree with where they are in it, in its order. */
export function byPath(tree: Tree): [path: string, x: Tensor][] {
  const found: [string, Tensor][] = [];
  mapTensors(tree, (x, path) => {
    found.push([path, x]);
    return x;
  });
  return found;
}

/**
 * The tensors of a tree in the order of another one: names of objects have none.
 *
 * @throws {BackendError} INVALID_ARGUMENT where its form or a shape is another
 */
export function inOrderOf(
  op: string,
  what: string,
  form: readonly (readonly [path: string, x: Tensor])[],
  tree: Tree,
  hint?: string,
): Tensor[] {
  const own = new Map(byPath(tree));
  const fail = (detail: string): Error => invalidArgument(op, `takes the gradients of each ${what}: ${detail}`, hint);
  const found = form.map(([path, { shape }]) => {
    const given = own.get(path);
    if (given === undefined) throw fail(`there is no tensor for ${what}${path}`);
    if (given.shape.join() !== shape.join()) {
      throw fail(`for ${what}${path} of [${shape.join(', ')}] there is one of [${given.shape.join(', ')}]`);
    }
    own.delete(path);
    return given;
  });
  for (const path of own.keys()) throw fail(`there is no ${what}${path}`);
  return found;
}

/**
 * Checks that each tensor of a tree can have a gradient.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a tensor of integers, which has none, and for one that was disposed
 */
export function checkFloats(op: string, tree: Tree): void {
  mapTensors(tree, (x, path) => {
    if (x.isDisposed) throw invalidArgument(op, `argument${path} is ${x.toString()}`);
    if (ELEMENT_TYPES[x.dtype].value === 'f32') return x;
    const hint = 'let the function read it from outside, or as a later argument';
    throw invalidArgument(op, `argument${path} is ${x.toString()}, and integers have no gradient`, hint);
  });
}

/** A tree of as many tensors as another, in the place of its own. */
export function withTensors<T>(tree: T, tensors: readonly Tensor[]): T {
  let next = 0;
  return mapTensors(tree, () => tensors[next++] as Tensor);
}

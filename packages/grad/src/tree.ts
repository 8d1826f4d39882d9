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
  if (typeof tree !== 'object' || tree === null || Object.getPrototypeOf(tree) !== Object.prototype) return tree;
  const entries = Object.entries(tree).map(([name, each]) => [
    name,
    mapTensors(each as unknown, change, `${path}.${name}`),
  ]);
  return Object.fromEntries(entries) as T;
}

/** The tensors of a tree, in its order. */
export function tensorsOf(tree: Tree): Tensor[] {
  const found: Tensor[] = [];
  mapTensors(tree, (x) => {
    found.push(x);
    return x;
  });
  return found;
}

/**
 * A tree with the other tensors of a list, in its order.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a tensor of integers, which has no gradient
 */
export function checkFloats(op: string, tree: Tree): void {
  mapTensors(tree, (x, path) => {
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

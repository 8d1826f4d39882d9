import { nodeText, refuse, unsupported } from '../errors.ts';
import type { Proto } from './schema.ts';

/** The functions of a model, by `domain.name`. */
export type Functions = ReadonlyMap<string, Proto<'Function'>>;

/** A node, and the operator sets that it is written for. */
export interface Placed {
  readonly node: Proto<'Node'>;
  readonly versions: ReadonlyMap<string, number>;
}

const MAX_DEPTH = 50;

/**
 * The nodes with each call of a function replaced by the function's nodes, whose inner values get names of their own.
 *
 * @throws {BackendError} INVALID_ARGUMENT for functions that call themselves
 */
export function* inline(
  nodes: readonly Proto<'Node'>[],
  functions: Functions,
  versions: ReadonlyMap<string, number>,
  path = '',
  depth = 0,
): Generator<Placed> {
  for (const [index, node] of nodes.entries()) {
    const called = functions.get(`${domainOf(node.domain)}.${node.op ?? ''}`);
    if (called === undefined) {
      yield { node, versions };
      continue;
    }
    if (depth > MAX_DEPTH) throw refuse(`function ${called.name ?? ''} calls itself, or too deeply`);
    const place = `${node.name || path + (node.op ?? '')}_${index}/`;
    const own = new Map([...versions, ...versionsOf(called.operatorSets)]);
    yield* inline(bodyOf(node, called, place), functions, own, place, depth + 1);
  }
}

/** `ai.onnx` is another name of ONNX's own domain. */
export function domainOf(domain = ''): string {
  return domain === 'ai.onnx' ? '' : domain;
}

/** Operator sets by domain. */
export function versionsOf(sets: readonly Proto<'OperatorSet'>[] = []): (readonly [string, number])[] {
  return sets.map(({ domain, version = 1n }) => [domainOf(domain), Number(version)]);
}

/** @throws {BackendError} UNSUPPORTED for an attribute or input that the function does not name */
function bodyOf(node: Proto<'Node'>, called: Proto<'Function'>, place: string): Proto<'Node'>[] {
  const names = new Map<string, string>([['', '']]);
  called.inputs?.forEach((name, i) => names.set(name, node.inputs?.[i] ?? ''));
  called.outputs?.forEach((name, i) => {
    const given = node.outputs?.[i] ?? '';
    if (given !== '') names.set(name, given);
  });
  const text = `node ${nodeText({ name: '', op: '', domain: '', outputs: [], ...node })}`;
  const attributes = new Map((called.defaults ?? []).map((each) => [each.name, each]));
  for (const each of node.attributes ?? []) {
    if (!attributes.has(each.name) && called.attributes?.includes(each.name ?? '') !== true)
      throw unsupported(`${text} has the attribute ${each.name}, which its function does not have`);
    attributes.set(each.name, each);
  }
  const count = called.inputs?.length ?? 0;
  if ((node.inputs?.length ?? 0) > count)
    throw unsupported(`${text} has the input ${count}, which its function does not have`);
  return (called.nodes ?? []).map((each) => rename(each, names, attributes, place));
}

function rename(
  node: Proto<'Node'>,
  names: ReadonlyMap<string, string>,
  given: ReadonlyMap<string | undefined, Proto<'Attribute'>>,
  place: string,
): Proto<'Node'> {
  const renamed = (name: string): string => names.get(name) ?? place + name;
  const graph = (each: Proto<'Graph'>): Proto<'Graph'> => ({
    ...each,
    nodes: (each.nodes ?? []).map((inner) => rename(inner, names, given, place)),
    inputs: (each.inputs ?? []).map((value) => ({ ...value, name: renamed(value.name ?? '') })),
    outputs: (each.outputs ?? []).map((value) => ({ ...value, name: renamed(value.name ?? '') })),
    initializers: (each.initializers ?? []).map((value) => ({ ...value, name: renamed(value.name ?? '') })),
  });
  return {
    ...node,
    name: place + (node.name ?? ''),
    inputs: (node.inputs ?? []).map(renamed),
    outputs: (node.outputs ?? []).map(renamed),
    attributes: (node.attributes ?? []).flatMap((each) => {
      if (each.reference) {
        const found = given.get(each.reference);
        return found === undefined ? [] : [{ ...found, name: each.name ?? '' }];
      }
      return [each.g === undefined ? each : { ...each, g: graph(each.g) }];
    }),
  };
}

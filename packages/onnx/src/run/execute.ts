import { tidy } from '@concord/ops';
import { errorOf, kindOf, nodeText, refuse } from '../errors.ts';
import { type Graph, type Node, readsOf } from '../graph/graph.ts';
import { sizeOf } from '../graph/host-tensor.ts';
import { TooLarge } from '../host/walk.ts';
import type { Operator } from '../operators/operator.ts';
import { OPERATORS } from '../operators/table.ts';
import { type Body, Call, type Context, type Results } from './call.ts';
import { HostNeeded, type Value } from './value.ts';

/** The maximum number of elements that the host computes, if the device can do it too. */
export const SMALL = 4096;

/** Values by name, those of the graphs around included. */
type Find = (name: string) => Value | undefined;

/** The operator of a node. */
export function operatorOf(node: Node): Operator | undefined {
  const name = kindOf(node);
  return Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
}

/** After which node a graph's values have no reader left, by the node's place. */
const lastReads = new WeakMap<Graph, readonly (readonly string[])[]>();

function lastReadsOf(graph: Graph): readonly (readonly string[])[] {
  let ends = lastReads.get(graph);
  if (ends === undefined) {
    const last = new Map<string, number>();
    graph.nodes.forEach((node, place) => {
      for (const name of [...node.outputs, ...readsOf(node)]) last.set(name, place);
    });
    for (const { name } of graph.outputs) last.delete(name);
    const lists = graph.nodes.map((): string[] => []);
    for (const [name, place] of last) lists[place]?.push(name);
    lastReads.set(graph, (ends = lists));
  }
  return ends;
}

/**
 * Runs a graph. Yields values that are to be read back before it goes on; the values it gives are the caller's.
 *
 * @param inputs - stay the caller's
 */
export function* runGraph(
  graph: Graph,
  inputs: ReadonlyMap<string, Value>,
  context: Context,
  outer: Find = () => undefined,
): Generator<Value, Value[]> {
  const constants = context.constantsOf(graph);
  const own = new Map<string, Value>();
  const find: Find = (name) => own.get(name) ?? inputs.get(name) ?? constants.get(name) ?? outer(name);
  const ends = lastReadsOf(graph);
  try {
    for (const [place, node] of graph.nodes.entries()) {
      const results = yield* runNode(node, find, context);
      node.outputs.forEach((name, i) => {
        const result = results[i];
        if (result !== undefined && name !== '') own.set(name, result);
        else if (result !== undefined && !result.isConstant) result.dispose();
      });
      for (const name of ends[place] as readonly string[]) {
        const value = own.get(name);
        if (value !== undefined && !value.isConstant) value.dispose();
        own.delete(name);
      }
    }
    const missing = graph.outputs.find(({ name }) => find(name) === undefined);
    if (missing !== undefined) throw refuse(`no node gives the output "${missing.name}"`);
    return graph.outputs.map(({ name }) => {
      const value = own.get(name);
      if (value === undefined || value.isConstant) return (find(name) as Value).share();
      own.delete(name);
      inputs = new Map([...inputs, [name, value]]);
      return value;
    });
  } finally {
    for (const value of own.values()) if (!value.isConstant) value.dispose();
  }
}

function* runNode(node: Node, find: Find, context: Context): Generator<Value, readonly (Value | undefined)[]> {
  const folded = context.folded.get(node);
  if (folded !== undefined) return folded;
  const operator = operatorOf(node) as Operator;
  const inputs = node.inputs.map((name) => (name === '' ? undefined : find(name)));
  const body: Body = (graph, given, uploads) => {
    const own = uploads ? context.withUploads(uploads) : context;
    return runGraph(graph, new Map(graph.inputs.map(({ name }, i) => [name, given[i] as Value])), own, find);
  };
  context.signatures?.set(
    node,
    readsOf(node)
      .map((name) => find(name)?.signature ?? NaN)
      .join(),
  );
  const call = new Call(node, inputs, context, body);
  const isConstant =
    operator.isRandom !== true &&
    (operator.flow === undefined || node.domain === 'concord') &&
    inputs.every((value) => value?.isConstant !== false);
  for (;;) {
    try {
      const from = context.trace && performance.now();
      const results =
        operator.flow === undefined
          ? runOnce(call, operator, isConstant)
          : call.results(yield* operator.flow(call), operator.type, isConstant);
      if (from !== undefined)
        context.trace?.push({ name: nodeText(node), ts: from * 1000, dur: (performance.now() - from) * 1000 });
      if (isConstant) context.folded.set(node, results as Value[]);
      return results;
    } catch (thrown) {
      if (!(thrown instanceof HostNeeded)) throw errorOf(node, thrown);
      yield thrown.value;
    }
  }
}

function compute(call: Call, { host, run }: Operator, isSmall: boolean): Results {
  if (host === undefined || (run !== undefined && !isSmall)) return run?.(call) ?? [];
  try {
    return host(call);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    if (run === undefined) throw refuse(error.message);
    return run(call);
  }
}

/** Runs an operator, and disposes what it made besides its results. */
function runOnce(call: Call, operator: Operator, isConstant: boolean): readonly (Value | undefined)[] {
  const present = call.inputs.filter((value) => value !== undefined);
  const isSmall = present.every(({ host, dims }) => host !== undefined && sizeOf(dims) <= SMALL);
  let results: readonly (Value | undefined)[] = [];
  tidy(() => {
    results = call.results(compute(call, operator, isSmall), operator.type, isConstant);
    return [...results.flatMap((value) => value?.tensor ?? []), ...call.uploaded];
  });
  // The bytes of weights need not be kept twice.
  for (const value of present) {
    if (value.isConstant && value.tensor !== undefined && sizeOf(value.dims) > SMALL) value.host = undefined;
  }
  return results;
}

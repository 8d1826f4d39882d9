import { type ComputeBackend, isBackendError } from '@concord/backend-core';
import { copy, record, type Recorded, type Tensor } from '@concord/ops';
import { copyElements } from '@concord/ops/listen';
import { refuse } from '../errors.ts';
import { type Graph, type Node, readsOf } from '../graph/graph.ts';
import type { Call } from './call.ts';
import { Value } from './value.ts';

/** Fewer nodes than these are not recorded together. */
const LEAST_NODES = 3;

/**
 * Nodes that got tensors of the same layouts in two runs, though the runs were not of the same shapes, as nodes of their own:
 * as many together as their order allows.
 */
export function withParts(graph: Graph, isFixed: (node: Node) => boolean): Graph {
  // Those with even numbers are of fixed nodes. A node is in the first that comes after all that it reads.
  const groups: Node[][] = [];
  const groupOf = new Map<string, number>();
  for (const node of graph.nodes) {
    const first = Math.max(0, ...readsOf(node).map((name) => groupOf.get(name) ?? 0));
    const group = first + Math.abs((first % 2) - Number(!isFixed(node)));
    (groups[group] ??= []).push(node);
    for (const name of node.outputs) groupOf.set(name, group);
  }
  const wanted = graph.outputs.map(({ name }) => name);
  const nodes = groups.flatMap((group, i) => {
    const given = new Set(group.flatMap(({ outputs }) => outputs));
    const reads = new Set(group.flatMap(readsOf));
    const inputs = [...reads].filter((name) => !given.has(name) && !graph.constants.has(name));
    const others = new Set([...wanted, ...groups.flatMap((each) => (each === group ? [] : each.flatMap(readsOf)))]);
    const outputs = [...given].filter((name) => others.has(name));
    const [first] = group as [Node];
    if (i % 2 === 1 || group.length < LEAST_NODES || inputs.length === 0) return group;
    const value = (name: string): Graph['inputs'][number] => ({ name, type: 'float32' });
    const part: Graph = { nodes: group, inputs: inputs.map(value), outputs: outputs.map(value), constants: new Map() };
    return { ...first, domain: 'concord', op: 'Part', inputs, outputs, attributes: new Map([['part', part]]) };
  });
  return { ...graph, nodes };
}

/** Copies of values that share memory with what is held. */
export function owned(values: readonly Value[], held: readonly (Tensor | undefined)[]): Value[] {
  const storages = new Set(held.map((each) => each?.storage));
  return values.map((value) => {
    if (value.tensor === undefined || !storages.has(value.tensor.storage)) return value;
    const own = Value.ofTensor(copy(value.tensor), value.type);
    value.dispose();
    return own;
  });
}

/** Records a run, and its results as `own` gives them; undefined if it cannot be recorded. */
export function recordRun(
  backend: ComputeBackend,
  slots: Readonly<Record<string, Tensor>>,
  start: () => Generator<Value, Value[]>,
  own: (values: Value[]) => Value[] = (values) => values,
): Recorded<readonly Value[]> | undefined {
  const run = (): Value[] => {
    const work = start();
    const step = work.next();
    if (step.done === true) return own(step.value);
    work.return([]);
    throw refuse('a run that is recorded needs numbers of the device');
  };
  try {
    return record(backend, run, { slots });
  } catch (error) {
    // Such as a slot that nothing queued uses. If it is an error of the work, running it says so.
    if (isBackendError(error, 'INVALID_ARGUMENT')) return undefined;
    throw error;
  }
}

/** What is kept of nodes that run together: a recording, from the second run on that is like the one before. */
export class Part implements Disposable {
  #key: string | undefined;
  readonly #uploads: Tensor[] = [];
  /** Copies of the inputs on the device: a replay is quick where memory is that of the one before. */
  #inputs: (Tensor | undefined)[] = [];
  #recorded: Recorded<readonly Value[]> | undefined;
  #isEager = false;

  /** The memory that later runs use again. */
  get held(): readonly (Tensor | undefined)[] {
    return [...this.#uploads, ...this.#inputs, ...(this.#recorded?.result ?? []).map(({ tensor }) => tensor)];
  }

  *run(call: Call): Generator<Value, Value[]> {
    const graph = call.graph('part');
    const given = graph.inputs.map((_, i) => call.value(i));
    const texts = given.map((value) => value.signature);
    const key = texts.includes(undefined) ? undefined : texts.join(';');
    if (key === undefined || key !== this.#key) this[Symbol.dispose]();
    else if (!this.#isEager) {
      if (this.#recorded === undefined) {
        this.#inputs = given.map(({ tensor, host, isConstant }) =>
          host || isConstant ? undefined : copy(tensor as Tensor),
        );
        const values = given.map((value, i) => apart(value, this.#inputs[i]));
        const start = (): Generator<Value, Value[]> => call.body(graph, values, this.#uploads);
        this.#recorded = recordRun(call.backend, {}, start);
        this.#isEager = this.#recorded === undefined;
      } else {
        for (const [i, to] of this.#inputs.entries()) {
          const from = given[i]?.tensor;
          if (to !== undefined && from !== undefined && to.size > 0) copyElements(call.backend, to.shape, from, to);
        }
        this.#recorded.replay();
      }
      if (this.#recorded !== undefined) return this.#recorded.result.map((value) => value.share());
    }
    const values = given.map((value) => apart(value));
    try {
      const results = yield* call.body(graph, values, this.#uploads);
      this.#key = key;
      return results;
    } finally {
      for (const [i, value] of values.entries()) {
        if (value.host === undefined) value.disposeDerived();
        else if (value !== given[i]) value.dispose();
      }
    }
  }

  [Symbol.dispose](): void {
    this.#recorded?.dispose();
    for (const tensor of [...this.#uploads.splice(0), ...this.#inputs.splice(0)]) tensor?.dispose();
    [this.#key, this.#recorded, this.#isEager] = [undefined, undefined, false];
  }
}

/** A value that keeps nothing of what others computed from it. */
function apart(value: Value, tensor: Tensor | undefined = value.tensor): Value {
  if (value.isConstant) return value;
  return value.host ? Value.ofHost(value.host) : Value.ofTensor(tensor as Tensor, value.type);
}

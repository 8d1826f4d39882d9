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
  const shared = new Set(graph.outputs.map(({ name }) => name));
  for (const [i, group] of groups.entries()) {
    for (const name of (group ?? []).flatMap(readsOf)) if (groupOf.get(name) !== i) shared.add(name);
  }
  const nodes = groups.flatMap((group, i) => {
    const given = new Set(group.flatMap(({ outputs }) => outputs));
    const reads = new Set(group.flatMap(readsOf));
    const inputs = [...reads].filter((name) => !given.has(name) && !graph.constants.has(name));
    const outputs = [...given].filter((name) => shared.has(name));
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

/** What is kept of work on inputs of one kind. */
export class Program implements Disposable {
  /** `parted`: ran in parts, which copied other tensors than all of it does; `eager`: ran, and cannot be recorded. */
  state: 'new' | 'parted' | 'ran' | 'eager' = 'new';
  /** Tensors that were computed on the host and copied to the device, in the order of a run. */
  readonly uploads: Tensor[] = [];
  /** The tensors of a recording that are filled before each replay. */
  readonly inputs: Map<string, Tensor> = new Map();
  /** Those of the caller that the work reads, which a replay gets anew. One object for all replays, whose names are looked up fast. */
  readonly slots: Record<string, Tensor> = {};
  #recorded: Recorded<readonly Value[]> | undefined;

  /** The memory that later runs use again. */
  get held(): readonly (Tensor | undefined)[] {
    return [...this.uploads, ...this.inputs.values(), ...(this.#recorded?.result ?? []).map(({ tensor }) => tensor)];
  }

  /** The results of a replay, or of the run that is recorded, as `own` gives them; undefined if it cannot be. */
  replay(
    backend: ComputeBackend,
    start: () => Generator<Value, Value[]>,
    own: (values: Value[]) => Value[] = (values) => values,
  ): readonly Value[] | undefined {
    if (this.#recorded !== undefined) this.#recorded.replay(this.slots);
    else {
      const run = (): Value[] => {
        const work = start();
        const step = work.next();
        if (step.done === true) return own(step.value);
        work.return([]);
        throw refuse('a run that is recorded needs numbers of the device');
      };
      try {
        this.#recorded = record(backend, run, { slots: this.slots });
      } catch (error) {
        // Such as a slot that nothing queued uses. If it is an error of the work, running it says so.
        if (!isBackendError(error, 'INVALID_ARGUMENT')) throw error;
        this.state = 'eager';
      }
    }
    return this.#recorded?.result;
  }

  [Symbol.dispose](): void {
    this.#recorded?.dispose();
    for (const tensor of [...this.uploads, ...this.inputs.values()]) tensor.dispose();
  }
}

/** The program of nodes that run together: of the inputs that they had last. */
export class Part implements Disposable {
  #key: string | undefined;
  program: Program = new Program();

  *run(call: Call): Generator<Value, Value[]> {
    const graph = call.graph('part');
    const given = graph.inputs.map(({ name }, i) => ({ name, value: call.value(i) }));
    const texts = given.map(({ value }) => value.signature);
    const key = texts.includes(undefined) ? undefined : texts.join(';');
    if (key === undefined || key !== this.#key) {
      this[Symbol.dispose]();
      [this.#key, this.program] = [key, new Program()];
    }
    const { uploads, inputs, state } = this.program;
    if (state === 'ran') {
      // A replay is quick where memory is that of the one before.
      for (const { name, value } of given) {
        const [from, to] = [value.host || value.isConstant ? undefined : value.tensor, inputs.get(name)];
        if (from === undefined) continue;
        if (to === undefined) inputs.set(name, copy(from));
        else if (to.size > 0) copyElements(call.backend, to.shape, from, to);
      }
      const own = given.map(({ name, value }) => apart(value, inputs.get(name)));
      const values = this.program.replay(call.backend, () => call.body(graph, own, uploads));
      if (values !== undefined) return values.map((value) => value.share());
    }
    const own = given.map(({ value }) => apart(value));
    try {
      const results = yield* call.body(graph, own, uploads);
      if (state === 'new') this.program.state = 'ran';
      return results;
    } finally {
      for (const [i, value] of own.entries()) {
        if (value.host === undefined) value.disposeDerived();
        else if (value !== given[i]?.value) value.dispose();
      }
    }
  }

  [Symbol.dispose](): void {
    this.program[Symbol.dispose]();
  }
}

/** A value that keeps nothing of what others computed from it. */
function apart(value: Value, tensor: Tensor | undefined = value.tensor): Value {
  if (value.isConstant) return value;
  return value.host ? Value.ofHost(value.host) : Value.ofTensor(tensor as Tensor, value.type);
}

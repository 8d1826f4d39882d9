import {
  type Kernel,
  kernelFromJson,
  type KernelNode,
  type KernelOutput,
  type NumberType,
  operandsOf,
} from '@concord/backend-core/kernel';
import { unsupported } from '../errors.ts';
import { Graph, type Ref } from './graph.ts';
import type { VjpGraph } from './vjp-graph.ts';

/** One launch of a kernel's gradient. */
export interface VjpPart {
  readonly kernel: Kernel;
  /** The outputs, in the order of the kernel's. */
  readonly outputs: readonly VjpOutput[];
}

/** An output of a part: the gradient of an input, or without `input` a value for later parts, under its name. */
export interface VjpOutput {
  readonly name: string;
  readonly input?: string;
  readonly level: 'row' | 'element';
  /** The type it is stored as; gradients are f32. */
  readonly type: NumberType;
  /** True where it is added to zeros by index: to one dense axis with all of the domain, if it is a value for later parts. */
  readonly isGathered: boolean;
  /** True where it is added to what is there. */
  readonly adds: boolean;
}

const MAX_OPERANDS = 8;
const MAX_NODES = 256;
const MAX_PARAMETERS = 16;

/** An output that a part stores. */
interface Stored extends VjpOutput {
  readonly value: Ref;
  readonly indices?: readonly Ref[] | undefined;
  /** The mode of a store by index. Default: add. */
  readonly mode?: 'set' | 'add';
}

/**
 * Kernels that compute the jobs of a graph, in their order: as few as the limits of a kernel allow. Scans whose values are
 * scanned or folded in turn are stored by one and read by the next.
 *
 * @param adds - inputs whose gradient is added to what its memory holds
 * @throws {BackendError} UNSUPPORTED where one gradient alone exceeds the limits
 */
export function partsOf(kernel: Kernel, { graph, jobs }: VjpGraph, adds: ReadonlySet<string>): VjpPart[] {
  const stored = jobs.map((job): Stored => {
    const isGathered = job.indices !== undefined;
    return { ...job, type: 'f32', isGathered, adds: !isGathered && job.input !== undefined && adds.has(job.input) };
  });
  return new Parts(kernel, graph, stored).all(stored);
}

/** Kernels that store 0 where a kernel stored an output by index. */
export function clearParts(kernel: Kernel, output: KernelOutput): VjpPart[] {
  return indexedParts(kernel, output, 'set', (graph) => graph.f32(0));
}

/** Kernels that add 1 by index for each value of an output that is what the output is afterwards. */
export function tieParts(kernel: Kernel, output: KernelOutput, result: string): VjpPart[] {
  return indexedParts(kernel, output, 'add', (graph, indices) => {
    const isTied = graph.same(output.node, graph.gather(result, indices, graph.f32(0)));
    return graph.op('select', isTied, graph.f32(1), graph.f32(0));
  });
}

function indexedParts(
  kernel: Kernel,
  { name, level, scatter }: KernelOutput,
  mode: 'set' | 'add',
  make: (graph: Graph, indices: readonly Ref[]) => Ref,
): VjpPart[] {
  const graph = new Graph();
  for (const node of kernel.nodes) graph.add(node);
  const indices = (scatter as NonNullable<typeof scatter>).indices;
  const own = make(graph, indices);
  const value = level === 'row' && graph.at(own).level === 'row' ? own : graph.spread(own);
  const stored = { name, value, indices, mode, level: graph.at(value).level as 'row' } as const;
  return new Parts(kernel, graph).all([{ ...stored, type: 'f32', isGathered: true, adds: false }]);
}

/** The names of the inputs that earlier parts stored values of a graph as. */
type Readable = ReadonlyMap<Ref, string>;

class Parts {
  readonly #kernel: Kernel;
  readonly #nodes: readonly KernelNode[];
  /** The stage that stores a scan; the first that can compute any other node. */
  readonly #stage: number[] = [];
  readonly #parts: VjpPart[] = [];

  constructor(kernel: Kernel, { nodes }: Graph, jobs: readonly Stored[] = []) {
    this.#kernel = kernel;
    this.#nodes = nodes;
    const scanned: number[] = [];
    const directions: boolean[] = [];
    for (const node of nodes) {
      const operands = operandsOf(node);
      let stage = Math.max(0, ...operands.map((operand) => this.#stage[operand] as number));
      const job =
        node.kind === 'input' ? jobs.find(({ name, input }) => input === undefined && name === node.name) : undefined;
      if (job !== undefined) stage = this.#stageOf(job) + 1;
      const after = Math.max(-1, ...operands.map((operand) => scanned[operand] as number));
      if (node.kind === 'scan' || node.kind === 'fold') stage = Math.max(stage, after + 1);
      if (node.kind === 'scan') {
        while ((directions[stage] ?? node.reverse) !== node.reverse) stage++;
        directions[stage] = node.reverse;
      }
      this.#stage.push(stage);
      scanned.push(node.kind === 'scan' ? stage : after);
    }
  }

  all(jobs: readonly Stored[]): VjpPart[] {
    const last = Math.max(0, ...jobs.map((job) => this.#stageOf(job)));
    const stages = Array.from({ length: last + 1 }, (_, stage) => jobs.filter((job) => this.#stageOf(job) === stage));
    const scans = new Map<Ref, string>();
    for (const [ref, { kind }] of this.#nodes.entries()) if (kind === 'scan') scans.set(ref, `value ${ref}`);
    const before = (stage: number): Readable =>
      new Map([...scans].filter(([ref]) => (this.#stage[ref] as number) < stage));
    // From the end, since what a stage reads of scans an earlier one has to store.
    for (let stage = last; stage > 0; stage--) {
      const readable = before(stage);
      for (const ref of this.#reach(stages[stage] as Stored[], readable)) {
        const own = stages[this.#stage[ref] as number] as Stored[];
        if (readable.has(ref) && !own.some(({ name }) => name === readable.get(ref))) own.push(this.#kept(ref));
      }
    }
    for (const [stage, stored] of stages.entries()) this.#add(stored, before(stage));
    return this.#parts;
  }

  #stageOf({ value, indices = [] }: Stored): number {
    return Math.max(...[value, ...indices].map((ref) => this.#stage[ref] as number));
  }

  /** A value for later parts. */
  #kept(value: Ref): Stored {
    const { type, level } = this.#nodes[value] as KernelNode;
    const stored = { name: `value ${value}`, value, level: level as 'row', type: type as NumberType };
    return { ...stored, isGathered: false, adds: false };
  }

  /** Adds as few parts as store that. */
  #add(stored: readonly Stored[], readable: Readable): void {
    if (stored.length === 0) return;
    const names = stored.map(({ name }) => name);
    const once = stored.filter(({ name }, index) => names.indexOf(name) === index);
    if (once.length < stored.length) {
      for (const each of [once, stored.filter((job) => !once.includes(job))]) this.#add(each, readable);
      return;
    }
    if (!exceeds(this.#shares(stored, readable))) {
      this.#parts.push(this.#made(stored, readable));
    } else if (stored.length > 1) {
      const half = stored.length >> 1;
      for (const each of [stored.slice(0, half), stored.slice(half)]) this.#add(each, readable);
    } else {
      const [job] = stored as [Stored];
      const own = new Map(readable);
      for (let cut = this.#cut(job, own); cut !== undefined; cut = this.#cut(job, own)) {
        this.#parts.push(this.#made([this.#kept(cut)], own));
        own.set(cut, `value ${cut}`);
      }
      this.#parts.push(this.#made(stored, own));
    }
  }

  /** The next value to be stored by a part of its own, so that what is computed from it is within the limits; undefined: all is. */
  #cut(job: Stored, readable: Readable): Ref | undefined {
    const sharesOf = (refs: readonly Ref[]): readonly number[] =>
      this.#shares([{ ...job, value: refs[0] as Ref, indices: refs.slice(1) }], readable);
    const weight = (ref: Ref): number => sharesOf([ref]).reduce((sum, share) => sum + share);
    const all = [job.value, ...(job.indices ?? [])];
    let operands: readonly Ref[] | undefined = exceeds(sharesOf(all)) ? all : undefined;
    for (const ref of this.#reach([job], readable)) {
      if (readable.has(ref) || !exceeds(sharesOf([ref]))) continue;
      operands = operandsOf(this.#nodes[ref] as KernelNode);
      break;
    }
    if (operands === undefined) return undefined;
    const [cut] = operands.filter((each) => this.#canKeep(each, readable)).sort((a, b) => weight(b) - weight(a));
    if (cut !== undefined) return cut;
    const what = `that of ${job.input ?? 'a value'} exceeds the limits of a kernel`;
    throw unsupported(this.#kernel.name, what, 'compute with two kernels instead of one');
  }

  /** Returns whether a value can be stored, and is not there already. */
  #canKeep(ref: Ref, readable: Readable): boolean {
    const { kind, level, type } = this.#nodes[ref] as KernelNode;
    return kind !== 'input' && level !== 'call' && type !== 'bool' && !readable.has(ref);
  }

  /** The shares of a kernel's limits that a part takes. */
  #shares(stored: readonly Stored[], readable: Readable): readonly number[] {
    const reach = this.#reach(stored, readable);
    const operands = new Set(stored.map(({ name }) => name));
    const params = new Set<string>();
    let hasRows = stored.some(({ level }) => level === 'row');
    for (const ref of reach) {
      const node = this.#nodes[ref] as KernelNode;
      const name = readable.get(ref) ?? ('name' in node ? node.name : undefined);
      if (node.level === 'row' || (node.kind === 'scan' && !readable.has(ref))) hasRows = true;
      if (name !== undefined) (node.kind === 'parameter' ? params : operands).add(name);
    }
    // Each sum with what is there, or value that is spread, is a node or two more.
    const nodes = reach.length + 2 * stored.length;
    return [operands.size / (MAX_OPERANDS - Number(hasRows)), nodes / MAX_NODES, params.size / MAX_PARAMETERS];
  }

  /** The nodes that are needed, those first that others are computed from. */
  #reach(stored: readonly Stored[], readable: Readable): Ref[] {
    const found = new Set<Ref>();
    const stack = stored.flatMap(({ value, indices = [] }) => [value, ...indices]).reverse();
    while (stack.length > 0) {
      const ref = stack.at(-1) as Ref;
      const operands = readable.has(ref) ? [] : operandsOf(this.#nodes[ref] as KernelNode);
      const missing = operands.find((operand) => !found.has(operand));
      if (missing !== undefined) {
        stack.push(missing);
        continue;
      }
      stack.pop();
      found.add(ref);
    }
    return [...found];
  }

  #made(stored: readonly Stored[], readable: Readable): VjpPart {
    const graph = new Graph();
    const places = new Map<Ref, Ref>();
    const at = (ref: Ref): Ref => places.get(ref) as Ref;
    for (const ref of this.#reach(stored, readable)) {
      const node = this.#nodes[ref] as KernelNode;
      const name = readable.get(ref);
      if (name !== undefined) places.set(ref, graph.input(name, node.type, node.level));
      else if (!('operands' in node)) places.set(ref, graph.add(node));
      else places.set(ref, graph.add({ ...node, operands: node.operands.map(at) } as KernelNode));
    }
    const outputs = stored.map(({ name, type, level, value, indices, adds, mode = 'add' }) => {
      const node = at(value);
      if (indices !== undefined) return { name, type, level, node, scatter: { mode, indices: indices.map(at) } };
      const sum = adds ? graph.op('add', graph.input(name, type, level), node) : node;
      return { name, type, level, node: level === 'element' ? graph.spread(sum) : sum };
    });
    const inputs = new Map<string, object>();
    const params = new Map<string, object>();
    for (const node of graph.nodes) {
      if (!('name' in node)) continue;
      const { name, type } = node;
      if (node.kind === 'parameter') params.set(name, { name, type });
      else if (node.kind === 'input') inputs.set(name, { name, type, access: node.level, rank: 0 });
      else inputs.set(name, { name, type, access: 'gather', rank: node.operands.length - 1 });
    }
    const kernel = kernelFromJson({
      name: `gradient of ${this.#kernel.name}`.slice(0, 1024),
      ...{ inputs: [...inputs.values()], params: [...params.values()] },
      ...{ nodes: graph.nodes, outputs, labels: {} },
    });
    return { kernel, outputs: stored.map(({ value: _, indices: __, mode: ___, ...output }) => output) };
  }
}

/** Returns whether a part takes more than a limit. */
function exceeds(shares: readonly number[]): boolean {
  return shares.some((share) => share > 1);
}

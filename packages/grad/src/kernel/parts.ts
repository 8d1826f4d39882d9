import { BackendError } from '@concord/backend-core';
import {
  type Kernel,
  type KernelInput,
  kernelFromJson,
  type KernelNode,
  type KernelOutput,
  type NumberType,
  operandsOf,
} from '@concord/backend-core/kernel';
import { Graph, type Ref } from './graph.ts';
import type { VjpGraph } from './vjp-graph.ts';

/** One launch of a kernel's gradient. */
export interface VjpPart {
  readonly kernel: Kernel;
  /** In the order of the kernel's outputs. */
  readonly outputs: readonly VjpOutput[];
}

/** What an output of a part is: the gradient of an input, or with no `input` a value for later parts, of its name. */
export interface VjpOutput {
  readonly name: string;
  readonly input?: string;
  readonly level: 'row' | 'element';
  /** What it is stored as; gradients are f32. */
  readonly type: NumberType;
  /** True where it is added to zeros by index. */
  readonly isGathered: boolean;
  /** True where it is added to what is there. */
  readonly adds: boolean;
}

const MAX_OPERANDS = 8;
const MAX_NODES = 256;
const MAX_PARAMETERS = 16;

/** What is stored by a part. */
interface Stored extends VjpOutput {
  readonly value: Ref;
  readonly indices?: readonly Ref[] | undefined;
  /** Of what is stored by index. Default: add. */
  readonly mode?: 'set';
}

/**
 * Kernels that compute the jobs of a graph, in their order: as few as the limits of a kernel allow. Scans whose values are
 * scanned or folded in turn are stored by one and read by the next.
 *
 * @param adds - inputs whose gradient is added to what its memory holds
 * @throws {BackendError} UNSUPPORTED where one gradient alone exceeds the limits
 */
export function partsOf(
  kernel: Kernel,
  vjp: VjpGraph,
  nameOf: (input: string) => string,
  adds: ReadonlySet<string>,
): VjpPart[] {
  return new Parts(kernel, vjp.graph).all(
    vjp.jobs.map(({ input, value, level, indices }) => {
      const isGathered = indices !== undefined;
      return {
        name: nameOf(input),
        input,
        level,
        type: 'f32',
        value,
        indices,
        isGathered,
        adds: !isGathered && adds.has(input),
      };
    }),
  );
}

/** Kernels that store 0 where a kernel stored an output by index. */
export function clearParts(kernel: Kernel, name: string): VjpPart[] {
  const graph = new Graph();
  for (const node of kernel.nodes) graph.add(node);
  const { scatter } = kernel.outputs.find((output) => output.name === name) as KernelOutput;
  const { indices } = scatter as { indices: readonly Ref[] };
  const value = graph.spread(graph.f32(0));
  const stored: Stored = {
    name,
    level: 'element',
    type: 'f32',
    value,
    indices,
    isGathered: true,
    adds: false,
    mode: 'set',
  };
  return new Parts(kernel, graph).all([stored]);
}

class Parts {
  readonly #kernel: Kernel;
  readonly #nodes: KernelNode[];
  /** Of a scan the part that stores it, of any other node the first that can compute it. */
  readonly #phase: number[] = [];
  readonly #directions: boolean[] = [];

  constructor(kernel: Kernel, { nodes }: Graph) {
    this.#kernel = kernel;
    this.#nodes = nodes;
    const scanned: number[] = [];
    for (const node of this.#nodes) {
      const operands = operandsOf(node);
      let phase = Math.max(0, ...operands.map((operand) => this.#phase[operand] as number));
      const after = Math.max(-1, ...operands.map((operand) => scanned[operand] as number));
      if (node.kind === 'scan' || node.kind === 'fold') phase = Math.max(phase, after + 1);
      if (node.kind === 'scan') {
        while ((this.#directions[phase] ?? node.reverse) !== node.reverse) phase++;
        this.#directions[phase] = node.reverse;
      }
      this.#phase.push(phase);
      scanned.push(node.kind === 'scan' ? phase : after);
    }
  }

  all(jobs: readonly Stored[]): VjpPart[] {
    const phaseOf = ({ value, indices = [] }: Stored): number =>
      Math.max(...[value, ...indices].map((ref) => this.#phase[ref] as number));
    const last = Math.max(0, ...jobs.map(phaseOf));
    const scratch = new Map<Ref, string>();
    const stages: Stored[][] = Array.from({ length: last + 1 }, (_, phase) =>
      jobs.filter((job) => phaseOf(job) === phase),
    );
    // From the end, since what a part reads of scans an earlier one has to store.
    for (let phase = last; phase > 0; phase--) {
      for (const ref of this.#reach(stages[phase] as Stored[], phase).keys()) {
        const { kind, level, type } = this.#nodes[ref] as KernelNode;
        const own = this.#phase[ref] as number;
        if (kind !== 'scan' || own >= phase || scratch.has(ref)) continue;
        scratch.set(ref, `scan ${ref}`);
        stages[own]?.push({
          name: `scan ${ref}`,
          level: level as 'element',
          type: type as NumberType,
          value: ref,
          isGathered: false,
          adds: false,
        });
      }
    }
    return stages.flatMap((stage, phase) => this.#split(stage, phase, scratch));
  }

  /** As few parts as hold what is stored. */
  #split(stored: readonly Stored[], phase: number, scratch: ReadonlyMap<Ref, string>): VjpPart[] {
    if (stored.length === 0) return [];
    const names = stored.map(({ name }) => name);
    const twice = stored.filter(({ name }, index) => names.indexOf(name) < index);
    if (twice.length > 0) {
      const once = stored.filter((each) => !twice.includes(each));
      return [once, twice].flatMap((each) => this.#split(each, phase, scratch));
    }
    const made = this.#make(stored, phase, scratch);
    if (typeof made !== 'string') return [made];
    if (stored.length === 1) {
      const what = `kernel ${this.#kernel.name}: the gradient of ${stored[0]?.input ?? 'a scan'} takes ${made}`;
      const hint = 'compute with two kernels instead of one';
      throw new BackendError('UNSUPPORTED', what, { op: 'grad', hint });
    }
    const half = stored.length >> 1;
    return [stored.slice(0, half), stored.slice(half)].flatMap((each) => this.#split(each, phase, scratch));
  }

  /** The nodes that are needed, those first that others are computed from; scans of earlier parts are read. */
  #reach(stored: readonly Stored[], phase: number): Map<Ref, number> {
    const order = new Map<Ref, number>();
    const stack = stored.flatMap(({ value, indices = [] }) => [value, ...indices]).reverse();
    while (stack.length > 0) {
      const ref = stack.at(-1) as Ref;
      const node = this.#nodes[ref] as KernelNode;
      const isRead = node.kind === 'scan' && (this.#phase[ref] as number) < phase;
      const missing = isRead ? undefined : operandsOf(node).find((operand) => !order.has(operand));
      if (missing !== undefined) {
        stack.push(missing);
        continue;
      }
      stack.pop();
      if (!order.has(ref)) order.set(ref, order.size);
    }
    return order;
  }

  /** A part, or which limit it exceeds. */
  #make(stored: readonly Stored[], phase: number, scratch: ReadonlyMap<Ref, string>): VjpPart | string {
    const order = this.#reach(stored, phase);
    const nodes: KernelNode[] = [];
    const inputs = new Map<string, KernelInput>();
    const params = new Set<string>();
    const declare = (node: KernelNode): void => {
      if (node.kind === 'parameter') params.add(node.name);
      if (node.kind !== 'input' && node.kind !== 'gather') return;
      const isGather = node.kind === 'gather';
      const [access, rank] = isGather
        ? (['gather', node.operands.length - 1] as const)
        : ([node.level as 'row', 0] as const);
      inputs.set(node.name, { name: node.name, type: node.type as 'f32', access, rank });
    };
    const add = (node: KernelNode): number => {
      declare(node);
      return nodes.push(node) - 1;
    };
    const at = (ref: Ref): number => order.get(ref) as number;
    for (const ref of order.keys()) {
      const node = this.#nodes[ref] as KernelNode;
      const name = node.kind === 'scan' && (this.#phase[ref] as number) < phase ? scratch.get(ref) : undefined;
      if (name !== undefined) add({ kind: 'input', type: node.type, level: node.level, name });
      else if ('operands' in node) add({ ...node, operands: node.operands.map(at) } as unknown as KernelNode);
      else add(node);
    }
    const outputs = stored.map(({ name, level, value, indices, adds, mode = 'add' }) => {
      let node = at(value);
      if (indices !== undefined) return { name, type: 'f32', level, node, scatter: { mode, indices: indices.map(at) } };
      if (adds) {
        const old = add({ kind: 'input', type: 'f32', level, name });
        node = add({ kind: 'arithmetic', op: 'add', type: 'f32', level, operands: [old, node] });
      } else if ((nodes[node] as KernelNode).level !== level) {
        node = add({ kind: 'spread', type: (nodes[node] as KernelNode).type, level: 'element', operands: [node] });
      }
      return { name, type: (nodes[node] as KernelNode).type, level, node };
    });
    const hasRows =
      nodes.some(({ level, kind }) => level === 'row' || kind === 'scan') ||
      stored.some(({ level }) => level === 'row');
    const operands = new Set([...inputs.keys(), ...stored.map(({ name }) => name)]).size;
    const allowed = MAX_OPERANDS - Number(hasRows);
    if (operands > allowed) return `${operands} operands, a kernel has at most ${allowed}`;
    if (nodes.length > MAX_NODES) return `${nodes.length} nodes, a kernel has at most ${MAX_NODES}`;
    if (params.size > MAX_PARAMETERS) return `${params.size} parameters, a kernel has at most ${MAX_PARAMETERS}`;
    const typeOf = (name: string): string => this.#kernel.params.find((each) => each.name === name)?.type ?? 'u32';
    const kernel = kernelFromJson({
      name: `gradient of ${this.#kernel.name}`.slice(0, 1024),
      inputs: [...inputs.values()],
      params: [...params].map((name) => ({ name, type: typeOf(name) })),
      nodes,
      outputs,
      labels: {},
    });
    return {
      kernel,
      outputs: stored.map(({ name, input, level, type, isGathered, adds }) => ({
        name,
        level,
        type,
        isGathered,
        adds,
        ...(input === undefined ? {} : { input }),
      })),
    };
  }
}

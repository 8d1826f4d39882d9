import {
  type ArithmeticNode,
  type CheckedRun,
  type KernelNode,
  type Level,
  operandsOf,
  type RunLayout,
  type ValueType,
} from '@concord/backend-core/kernel';
import { maxWithZero } from './float-loops.ts';
import type { Loop } from './loop.ts';
import { isView, loopOf } from './node-loops.ts';
import { phasesOf } from '../schedule/phases.ts';
import { COUNTS, keyOf, memoryOf, NOWHERE } from './plan-facts.ts';
import { attach, BLOCK, emptySlot, register, type Slot } from './slot.ts';
import {
  gatherStep,
  indexStep,
  loadRowsStep,
  loadStep,
  type Memory,
  type Place,
  spreadStep,
  type Step,
} from './steps.ts';
import { isDirect, type Tiling, type View } from './tiling.ts';

/** Thrown where values have to be kept though a tiling has no end; the caller takes another one. */
export class NeedsRegister extends Error {}

/** Makes the steps that compute nodes, each once in a pass, as they are asked for. */
export class NodeValues {
  readonly memories: { readonly inputs: readonly Memory[]; readonly outputs: readonly Memory[] };
  /** Of the tiling's views. */
  readonly places: readonly Place[];
  readonly parameters: [number, Slot, ValueType][] = [];
  /** Once in a call. */
  readonly callSteps: Step[] = [];
  /** For each tile of rows, by how many passes there have to be before. */
  readonly rowSteps: readonly Step[][];
  /** Of the current pass. */
  elementSteps: Step[] = [];
  /** After how many passes each node can be computed. */
  readonly stages: readonly number[];
  readonly #geometry: CheckedRun;
  readonly #tiling: Tiling;
  readonly #nodes: readonly KernelNode[];
  readonly #slots: Map<string, Slot> = new Map();
  /** Keys of what the current pass has computed. */
  #ready: Set<string> = new Set();
  #registers = 0;

  constructor(geometry: CheckedRun, tiling: Tiling) {
    this.#geometry = geometry;
    this.#tiling = tiling;
    this.#nodes = geometry.kernel.nodes;
    this.stages = phasesOf(geometry.kernel).depths;
    this.places = tiling.views.map((_, view) => ({
      start: 0,
      rowStride: tiling.rowAxis.strides[view] as number,
      elementStride: tiling.elementAxis.strides[view] as number,
    }));
    const isRecast = this.#nodes.some((node) => node.kind === 'arithmetic' && isView(node.op, this.#typeOf(node, 0)));
    this.memories = {
      inputs: geometry.inputs.map((layout, index) => memoryOf(layout, this.placeOf('input', index), isRecast)),
      outputs: geometry.outputs.map((layout, index) => memoryOf(layout, this.placeOf('output', index), isRecast)),
    };
    this.rowSteps = Array.from({ length: Math.max(0, ...this.stages) + 1 }, () => []);
  }

  /** Begins a walk over elements: unless a tile has whole rows, nothing of them is there yet. */
  beginPass(): void {
    this.elementSteps = [];
    if (this.#tiling.isWhole) return;
    this.#ready = new Set([...this.#ready].filter((key) => !key.endsWith('element') || key.startsWith('call')));
  }

  /** Has a node's values computed in a place, if that does not have to be elsewhere. */
  computeAt(node: number, level: Level, slot: Slot): void {
    const key = keyOf(node, level);
    if (!this.#slots.has(key)) this.#slots.set(key, slot);
  }

  /** Returns whether the current pass has a node's values. */
  has(node: number, level: Level): boolean {
    return this.#ready.has(keyOf(node, level));
  }

  /** The slot of a fold's results, which are there once its pass is over. */
  foldResult(node: number): Slot {
    this.#ready.add(keyOf(node, 'row'));
    return this.#own(node, 'row');
  }

  /** The slot of a node's values at each point of a level that is as fine as the node's own or finer. */
  value(given: number, level: Level): Slot {
    const index = this.seenThrough(given);
    const node = this.#nodes[index] as KernelNode;
    if (node.level !== level) return this.#spread(index, node.level, level);
    const key = keyOf(index, level);
    if (!this.#ready.has(key)) {
      this.#compute(index, node);
      this.#ready.add(key);
    }
    return this.#slots.get(key) as Slot;
  }

  /** Through nodes that change no bit. */
  seenThrough(given: number): number {
    let index = given;
    for (;;) {
      const node = this.#nodes[index] as KernelNode;
      const isSame = node.kind === 'spread' || (node.kind === 'arithmetic' && isView(node.op, this.#typeOf(node, 0)));
      if (!isSame) return index;
      index = operandsOf(node)[0] as number;
    }
  }

  #spread(index: number, from: Level, to: Level): Slot {
    const key = from + keyOf(index, to);
    const source = this.byBits(this.value(index, from));
    const known = this.#slots.get(key);
    if (known !== undefined && this.#ready.has(key)) return known;
    const slot = known ?? this.register(to);
    this.#slots.set(key, slot);
    this.#ready.add(key);
    if (from === 'row') this.elementSteps.push(spreadStep(source, slot));
    else this.callSteps.push(() => slot.i.fill(source.i[source.at] as number));
    return slot;
  }

  #compute(index: number, node: KernelNode): void {
    const steps = this.#stepsOf(index, node.level);
    switch (node.kind) {
      case 'constant':
        this.#own(index, 'call').i[0] = node.bits;
        return;
      case 'parameter': {
        const at = this.#geometry.kernel.params.findIndex(({ name }) => name === node.name);
        this.parameters.push([at, this.#own(index, 'call'), node.type]);
        return;
      }
      case 'extent': {
        const { shape } = this.#geometry;
        this.#own(index, 'call').u[0] = shape.at(node.axis) as number;
        return;
      }
      case 'index':
      case 'rowIndex': {
        const place = this.placeOf('axis', index);
        steps.push(indexStep(place, this.#own(index, node.level), node.level === 'row'));
        return;
      }
      case 'input':
        this.#input(index, node.name, node.level, steps);
        return;
      case 'gather': {
        const [outside, ...indices] = node.operands.map((operand) => this.byBits(this.value(operand, node.level))) as [
          Slot,
          ...Slot[],
        ];
        const types = indices.map((_, axis) => this.#typeOf(node, axis + 1));
        const input = this.inputIndex(node.name);
        const [layout, memory] = [this.#geometry.inputs[input] as RunLayout, this.memories.inputs[input] as Memory];
        const to = this.byBits(this.#own(index, node.level));
        steps.push(gatherStep(layout, memory, outside, indices, types, to, COUNTS[node.level]));
        return;
      }
      case 'arithmetic':
        this.#arithmetic(index, node, steps);
        return;
      case 'fold':
      case 'spread':
        throw new Error(`${node.kind} was not computed in its turn`);
    }
  }

  #arithmetic(index: number, node: ArithmeticNode, steps: Step[]): void {
    const { level, op } = node;
    const isZero = (operand: number): boolean => {
      const other = this.#nodes[operand] as KernelNode;
      return other.kind === 'constant' && other.bits === 0;
    };
    const isClamp = op === 'max' && node.type === 'f32' && node.operands.some(isZero);
    const operands = isClamp ? [node.operands.find((operand) => !isZero(operand)) ?? node.operands[0]] : node.operands;
    const slots = operands.map((operand) => this.value(operand as number, level));
    const loop: Loop = isClamp ? maxWithZero : loopOf(op, this.#typeOf(node, node.operands.length - 1));
    const to = this.#own(index, level);
    const [first = to, second = to, third = to] = slots;
    if (isClamp || op === 'select') for (const slot of [to, ...slots]) this.byBits(slot);
    const countOf = COUNTS[level];
    steps.push((tile) => loop(countOf(tile) | 0, to, first, second, third));
  }

  #input(index: number, name: string, level: Level, steps: Step[]): void {
    const input = this.inputIndex(name);
    const memory = this.memories.inputs[input] as Memory;
    const layout = this.#geometry.inputs[input] as RunLayout;
    if (isDirect(this.#tiling, layout, memory.place, level)) {
      this.#slots.set(keyOf(index, level), memory.slot);
      return;
    }
    const slot = this.#own(index, level);
    steps.push(level === 'row' ? loadRowsStep(memory, slot) : loadStep(memory, slot));
  }

  #stepsOf(index: number, level: Level): Step[] {
    if (level === 'call') return this.callSteps;
    return level === 'row' ? (this.rowSteps[this.stages[index] as number] as Step[]) : this.elementSteps;
  }

  /** The slot that a node's values are computed into. */
  #own(index: number, level: Level): Slot {
    const key = keyOf(index, level);
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const slot = this.register(level);
    this.#slots.set(key, slot);
    return slot;
  }

  /** A new slot for values of a level. @throws NeedsRegister */
  register(level: Level): Slot {
    if (level === 'call') {
      const slot = emptySlot();
      attach(slot, new ArrayBuffer(4), 0, 1);
      return slot;
    }
    const { rows, elements } = this.#tiling;
    const length = level === 'row' ? rows : rows * elements;
    if (length > 16 * BLOCK) throw new NeedsRegister();
    return register(this.#registers++, length);
  }

  /** The place of an operand, of the index that a node gives, or of the element in its row. */
  placeOf(kind: View['kind'], index: number): Place {
    const view = this.#tiling.views.findIndex((other) => other.kind === kind && other.index === index);
    return this.places[view] ?? NOWHERE;
  }

  /** A slot that is read or written by its bits, whatever its type. */
  byBits(slot: Slot): Slot {
    const memory = this.memoryAt(slot);
    if (memory !== undefined) memory.usesBits = true;
    return slot;
  }

  /** The operand whose memory a slot is. */
  memoryAt(slot: Slot): Memory | undefined {
    return [...this.memories.inputs, ...this.memories.outputs].find((memory) => memory.slot === slot);
  }

  /** The place of an input among the kernel's. */
  inputIndex(name: string): number {
    return this.#geometry.inputs.findIndex((input) => input.name === name);
  }

  #typeOf(node: KernelNode, operand: number): ValueType {
    return (this.#nodes[operandsOf(node)[operand] as number] as KernelNode).type;
  }
}

import {
  type ArithmeticNode,
  type CheckedRun,
  type FoldNode,
  type KernelNode,
  type Level,
  operandsOf,
  type RunLayout,
  type ValueType,
} from '@concord/backend-core/kernel';
import { maxWithZero } from './float-loops.ts';
import { foldLoopsOf, type Totals } from './fold-loops.ts';
import type { Loop } from './loop.ts';
import type { Elements } from './memory.ts';
import { isView, loopOf } from './node-loops.ts';
import { attach, BLOCK, emptySlot, register, type Slot } from './slot.ts';
import {
  beginFoldStep,
  finishFoldStep,
  type Folded,
  foldStep,
  gatherStep,
  indexStep,
  loadRowsStep,
  loadStep,
  type Memory,
  type Place,
  spreadStep,
  type Step,
  storeRowsStep,
  storeStep,
} from './steps.ts';
import type { Tiling, View } from './tiling.ts';

/** One walk over the elements of a tile's rows. */
export interface Pass {
  readonly begin: readonly Step[];
  readonly elements: readonly Step[];
  /** Behind the last element: results of folds, and what is computed of them. */
  readonly end: readonly Step[];
}

/** What is done for a call. */
export interface Program {
  readonly memories: { readonly inputs: readonly Memory[]; readonly outputs: readonly Memory[] };
  /** Where the value of each view at a tile's first point goes. */
  readonly places: readonly Place[];
  /** The operands of 32-bit elements. */
  readonly words: readonly Memory[];
  readonly parameters: readonly (readonly [parameter: number, slot: Slot, type: ValueType])[];
  /** Once in a call. */
  readonly call: readonly Step[];
  /** For each tile of rows, before its passes. */
  readonly rows: readonly Step[];
  readonly passes: readonly Pass[];
  /** For each tile of rows, at its end. */
  readonly rowStores: readonly Step[];
}

/** Thrown where values have to be kept though a tiling has no end; the caller takes another one. */
export class NeedsRegister extends Error {}

/** Turns a kernel into steps for tiles of one tiling. */
export class PlanBuilder {
  readonly #geometry: CheckedRun;
  readonly #tiling: Tiling;
  readonly #nodes: readonly KernelNode[];
  /** After how many passes each node can be computed. */
  readonly #stages: readonly number[];
  readonly #slots: Map<string, Slot> = new Map();
  /** Keys of what the current pass has computed. */
  #ready: Set<string> = new Set();
  #registers = 0;
  readonly #memories: Program['memories'];
  readonly #places: readonly Place[];
  readonly #parameters: [number, Slot, ValueType][] = [];
  readonly #call: Step[] = [];
  readonly #rowSteps: Step[][];
  #elementSteps: Step[] = [];

  constructor(geometry: CheckedRun, tiling: Tiling) {
    this.#geometry = geometry;
    this.#tiling = tiling;
    this.#nodes = geometry.kernel.nodes;
    this.#stages = stagesOf(this.#nodes);
    this.#places = tiling.views.map((_, view) => ({
      start: 0,
      rowStride: tiling.rowAxis.strides[view] as number,
      elementStride: tiling.elementAxis.strides[view] as number,
    }));
    const isRecast = this.#nodes.some((node) => node.kind === 'arithmetic' && isView(node.op, this.#typeOf(node, 0)));
    this.#memories = {
      inputs: geometry.inputs.map((layout, index) => memoryOf(layout, this.#placeOf('input', index), isRecast)),
      outputs: geometry.outputs.map((layout, index) => memoryOf(layout, this.#placeOf('output', index), isRecast)),
    };
    this.#rowSteps = Array.from({ length: Math.max(0, ...this.#stages) + 1 }, () => []);
  }

  /** @throws NeedsRegister */
  build(): Program {
    const { kernel, outputs } = this.#geometry;
    const rowOutputs = kernel.outputs.flatMap(({ level, node }, index) =>
      level === 'row'
        ? [{ node, layout: outputs[index] as RunLayout, memory: this.#memories.outputs[index] as Memory }]
        : [],
    );
    for (const { node, layout, memory } of rowOutputs) {
      const key = keyOf(node, 'row');
      if (this.#isDirect(layout, memory, 'row') && isStep(this.#nodes[node] as KernelNode) && !this.#slots.has(key)) {
        this.#slots.set(key, memory.slot);
      }
    }
    const drafts = Array.from({ length: this.#rowSteps.length }, (_, stage) => this.#pass(stage));
    const rowStores = rowOutputs.flatMap(({ node, memory }) => {
      const slot = this.#value(node, 'row');
      return slot === memory.slot ? [] : [storeRowsStep(this.#byBits(slot), memory)];
    });
    return {
      memories: this.#memories,
      places: this.#places,
      words: [...this.#memories.inputs, ...this.#memories.outputs].filter(isWord),
      parameters: this.#parameters,
      call: this.#call,
      rows: this.#rowSteps[0] as Step[],
      passes: drafts.map(({ begin, elements, finish }, stage) => ({
        begin,
        elements,
        end: [...finish, ...(this.#rowSteps[stage + 1] ?? [])],
      })),
      rowStores,
    };
  }

  #pass(stage: number): { begin: Step[]; elements: Step[]; finish: Step[] } {
    const { rows, isWhole } = this.#tiling;
    if (!isWhole)
      this.#ready = new Set([...this.#ready].filter((key) => !key.endsWith('element') || key.startsWith('call')));
    this.#elementSteps = [];
    const [begin, finish]: [Step[], Step[]] = [[], []];
    for (const [index, node] of this.#nodes.entries()) {
      if (node.kind !== 'fold' || this.#stages[index] !== stage + 1) continue;
      const loops = foldLoopsOf(node.op, (this.#nodes[node.operands[0]] as KernelNode).type);
      const totals: Totals = { values: new Float64Array(rows), places: new Float64Array(rows) };
      begin.push(beginFoldStep(loops, totals));
      const folded = this.#folded(node);
      this.#elementSteps.push(foldStep(loops, totals, folded, this.#placeOf('place', 0)));
      finish.push(finishFoldStep(loops, totals, this.#own(index, 'row'), node.type, this.#geometry.rowLength));
      this.#ready.add(keyOf(index, 'row'));
    }
    if (stage === this.#rowSteps.length - 1) this.#elementOutputs();
    return { begin, elements: this.#elementSteps, finish };
  }

  /** All is computed before anything is stored: outputs may be in the place of inputs. */
  #elementOutputs(): void {
    const { kernel } = this.#geometry;
    const elements = kernel.outputs.flatMap((output, index) =>
      output.level === 'element' ? [{ ...output, index }] : [],
    );
    const stores: Step[] = [];
    const [only] = elements.length === 1 ? elements : [];
    if (only !== undefined) this.#computeInPlace(only.node, only.index);
    for (const { node, index } of elements) {
      const memory = this.#memories.outputs[index] as Memory;
      const slot = this.#value(node, 'element');
      if (slot === memory.slot) continue;
      // An input may be where another output is stored before.
      const isInput = only === undefined && this.#memoryAt(slot) !== undefined;
      stores.push(storeStep(isInput ? this.#copied(slot) : this.#byBits(slot), memory));
    }
    this.#elementSteps.push(...stores);
  }

  /** The only output may be computed where it is to be: what else reads that memory is done by then. */
  #computeInPlace(node: number, output: number): void {
    const memory = this.#memories.outputs[output] as Memory;
    const key = keyOf(node, 'element');
    if (!isStep(this.#nodes[node] as KernelNode) || this.#slots.has(key)) return;
    if (this.#isDirect(this.#geometry.outputs[output] as RunLayout, memory, 'element'))
      this.#slots.set(key, memory.slot);
  }

  #copied(slot: Slot): Slot {
    const copy = this.#register('element');
    this.#byBits(slot);
    this.#elementSteps.push(({ count }) => copy.i.set(slot.i.subarray(slot.at, slot.at + count)));
    return copy;
  }

  /** A fold takes elements from where they are, whatever their strides. */
  #folded(node: FoldNode): Folded {
    const index = this.#seenThrough(node.operands[0]);
    const operand = this.#nodes[index] as KernelNode;
    if (operand.kind === 'input' && operand.level === 'element' && !this.#ready.has(keyOf(index, 'element'))) {
      const input = this.#inputIndex(operand.name);
      const memory = this.#memories.inputs[input] as Memory;
      if (isWord(memory)) return { slot: memory.slot, memory: memory.place };
    }
    const slot = this.#value(index, 'element');
    const memory = this.#memoryAt(slot);
    return memory === undefined ? { slot } : { slot, memory: memory.place };
  }

  /** The slot of a node's values at each point of a level that is as fine as the node's own or finer. */
  #value(given: number, level: Level): Slot {
    const index = this.#seenThrough(given);
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
  #seenThrough(given: number): number {
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
    const source = this.#byBits(this.#value(index, from));
    const known = this.#slots.get(key);
    if (known !== undefined && this.#ready.has(key)) return known;
    const slot = known ?? this.#register(to);
    this.#slots.set(key, slot);
    this.#ready.add(key);
    if (from === 'row') this.#elementSteps.push(spreadStep(source, slot));
    else this.#call.push(() => slot.i.fill(source.i[source.at] as number));
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
        this.#parameters.push([at, this.#own(index, 'call'), node.type]);
        return;
      }
      case 'extent': {
        const { shape } = this.#geometry;
        this.#own(index, 'call').u[0] = shape.at(node.axis) as number;
        return;
      }
      case 'index':
      case 'rowIndex': {
        const place = this.#placeOf('axis', index);
        steps.push(indexStep(place, this.#own(index, node.level), node.level === 'row'));
        return;
      }
      case 'input':
        this.#input(index, node.name, node.level, steps);
        return;
      case 'gather': {
        const [outside, ...indices] = node.operands.map((operand) =>
          this.#byBits(this.#value(operand, node.level)),
        ) as [Slot, ...Slot[]];
        const types = indices.map((_, axis) => this.#typeOf(node, axis + 1));
        const input = this.#inputIndex(node.name);
        const [layout, memory] = [this.#geometry.inputs[input] as RunLayout, this.#memories.inputs[input] as Memory];
        const to = this.#byBits(this.#own(index, node.level));
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
    const slots = operands.map((operand) => this.#value(operand as number, level));
    const loop: Loop = isClamp ? maxWithZero : loopOf(op, this.#typeOf(node, node.operands.length - 1));
    const to = this.#own(index, level);
    const [first = to, second = to, third = to] = slots;
    if (isClamp || op === 'select') for (const slot of [to, ...slots]) this.#byBits(slot);
    const countOf = COUNTS[level];
    steps.push((tile) => loop(countOf(tile) | 0, to, first, second, third));
  }

  #input(index: number, name: string, level: Level, steps: Step[]): void {
    const input = this.#inputIndex(name);
    const memory = this.#memories.inputs[input] as Memory;
    const layout = this.#geometry.inputs[input] as RunLayout;
    if (this.#isDirect(layout, memory, level)) {
      this.#slots.set(keyOf(index, level), memory.slot);
      return;
    }
    const slot = this.#own(index, level);
    steps.push(level === 'row' ? loadRowsStep(memory, slot) : loadStep(memory, slot));
  }

  /** Whether the values of each tile lie one after the other in memory, in the order in which a register has them. */
  #isDirect({ type, dtype }: RunLayout, memory: Memory, level: Level): boolean {
    if (type !== dtype) return false;
    const { rows, elements, rowAxis, elementAxis, isColumnMajor } = this.#tiling;
    const { rowStride, elementStride } = memory.place;
    if (level === 'row') return rowStride === 1 || rowAxis.size === 1;
    const [inner, outer] = isColumnMajor
      ? [
          { stride: rowStride, size: rows, of: rowAxis.size },
          { stride: elementStride, size: elements },
        ]
      : [
          { stride: elementStride, size: elements, of: elementAxis.size },
          { stride: rowStride, size: rows },
        ];
    if (inner.stride !== 1 && inner.size > 1) return false;
    return outer.size === 1 || (outer.stride === inner.of && inner.size === inner.of);
  }

  #stepsOf(index: number, level: Level): Step[] {
    if (level === 'call') return this.#call;
    return level === 'row' ? (this.#rowSteps[this.#stages[index] as number] as Step[]) : this.#elementSteps;
  }

  /** The slot that a node's values are computed into. */
  #own(index: number, level: Level): Slot {
    const key = keyOf(index, level);
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const slot = this.#register(level);
    this.#slots.set(key, slot);
    return slot;
  }

  #register(level: Level): Slot {
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
  #placeOf(kind: View['kind'], index: number): Place {
    const view = this.#tiling.views.findIndex((other) => other.kind === kind && other.index === index);
    return this.#places[view] ?? NOWHERE;
  }

  /** A slot that is read or written by its bits, whatever its type. */
  #byBits(slot: Slot): Slot {
    const memory = this.#memoryAt(slot);
    if (memory !== undefined) memory.usesBits = true;
    return slot;
  }

  /** The operand whose memory a slot is. */
  #memoryAt(slot: Slot): Memory | undefined {
    return [...this.#memories.inputs, ...this.#memories.outputs].find((memory) => memory.slot === slot);
  }

  #inputIndex(name: string): number {
    return this.#geometry.inputs.findIndex((input) => input.name === name);
  }

  #typeOf(node: KernelNode, operand: number): ValueType {
    return (this.#nodes[operandsOf(node)[operand] as number] as KernelNode).type;
  }
}

type Sized = { readonly rows: number; readonly count: number };
const COUNTS: Readonly<Record<Level, (tile: Sized) => number>> = {
  call: () => 1,
  row: ({ rows }) => rows,
  element: ({ count }) => count,
};

/** Of what no tile has a place in, such as a gather input. */
const NOWHERE: Place = { start: 0, rowStride: 0, elementStride: 0 };
const NO_ELEMENTS: Elements = new Int32Array();

function memoryOf({ dtype }: RunLayout, place: Place, isRecast: boolean): Memory {
  return { dtype, place, slot: emptySlot(), isRecast, usesBits: false, elements: NO_ELEMENTS };
}

function isWord({ dtype }: Memory): boolean {
  return dtype === 'f32' || dtype === 'i32' || dtype === 'u32';
}

/** Whether a node's values are computed into a place of their own. */
function isStep(node: KernelNode): boolean {
  return node.kind === 'arithmetic' || node.kind === 'gather' || node.kind === 'fold';
}

function keyOf(index: number, level: Level): string {
  return `${index} ${level}`;
}

function stagesOf(nodes: readonly KernelNode[]): readonly number[] {
  const stages: number[] = [];
  for (const node of nodes) {
    const stage = Math.max(0, ...operandsOf(node).map((operand) => stages[operand] as number));
    stages.push(node.kind === 'fold' ? stage + 1 : stage);
  }
  return stages;
}

import {
  type CheckedRun,
  type KernelNode,
  type KernelOutput,
  type Level,
  operandsOf,
  type ResolvedRun,
  type RunLayout,
  type ScanNode,
  type ValueType,
} from '@concord/backend-core/kernel';
import { outputsOf } from '../program/form.ts';
import { phasesOf, scansOf } from '../schedule/phases.ts';
import { emptyOf, type Fold, foldOf, scanned, type Totals } from './folds.ts';
import { combiner, type Elements, elementsOf, load, reader, store, writer } from './memory.ts';
import { isView, loopOf, type Numbers } from './node-loops.ts';
import { View } from './view.ts';

/** Points that are computed at once. */
const BLOCK = 1024;

/** A checked call of a kernel with its operands in memory of the host. */
export type HostRun = Pick<ResolvedRun<ArrayBufferLike>, 'geometry' | 'inputs' | 'outputs' | 'params'>;

/**
 * Computes a kernel over memory of the host: node after node for a tile of about a thousand points at a time, each by a loop over
 * typed arrays. What the nodes of float32 give is rounded to float32; folds are float64 inside. No code is generated. An output
 * may be in the place of element inputs.
 */
export function evaluateRun(run: HostRun): void {
  new Evaluation(run).run();
}

/** The values of a node at the points of a level. The three arrays are one memory: bits are read by any of them. */
interface Register {
  readonly level: Level;
  readonly f: Float32Array;
  readonly i: Int32Array;
  readonly u: Uint32Array;
  /** True if it holds the values of the current tile. */
  isReady: boolean;
}

/** An operand in memory; what is read or written by index has no view. */
interface Memory {
  readonly layout: RunLayout;
  readonly elements: Elements;
  readonly view: View;
}

const NO_MEMORY = { buffer: new ArrayBuffer(0), byteOffset: 0 };

const numbers = ({ f, i, u }: Register, type: ValueType): Numbers => (type === 'f32' ? f : type === 'u32' ? u : i);

/** Returns the place of the element that the k-th indices name; -1 outside. */
function placeAt({ shape, strides }: RunLayout, indices: readonly Numbers[], k: number): number {
  let at = 0;
  for (let axis = 0; axis < indices.length; axis++) {
    const index = indices[axis]![k]!;
    if (index < 0 || index >= shape[axis]!) return -1;
    at += index * strides[axis]!;
  }
  return at;
}

/** One call: rows, some at a time; in a row passes, of which each finishes folds that the next needs; in a pass tiles. */
class Evaluation {
  readonly #geometry: CheckedRun;
  readonly #nodes: readonly KernelNode[];
  readonly #inputs: ReadonlyMap<string, Memory>;
  readonly #outputs: readonly Memory[];
  readonly #params: readonly number[];
  readonly #registers: Map<string, Register> = new Map();
  /** The totals of each scan's rows over the tiles before this one. */
  readonly #totals: Map<number, Float64Array> = new Map();
  /** The current rows, and the part of them that is the tile. */
  #row = 0;
  #rows = 0;
  #element = 0;
  #elements = 0;

  constructor({ geometry, inputs, outputs, params }: HostRun) {
    this.#geometry = geometry;
    this.#nodes = geometry.kernel.nodes;
    const memoryOf = (layout: RunLayout, operand: HostRun['inputs'][number]): Memory => {
      const { buffer, byteOffset } = operand ?? NO_MEMORY;
      const elements = elementsOf(layout.dtype, buffer, byteOffset, operand === undefined ? 0 : layout.extent);
      return { layout, elements, view: new View(layout.shape, layout.strides) };
    };
    this.#inputs = new Map(geometry.inputs.map((layout, index) => [layout.name, memoryOf(layout, inputs[index])]));
    this.#outputs = geometry.outputs.map((layout, index) => memoryOf(layout, outputs[index]));
    this.#params = params;
  }

  run(): void {
    const { rowCount, rowLength } = this.#geometry;
    const rows = Math.max(1, Math.floor(BLOCK / Math.max(1, rowLength)));
    for (this.#row = 0; this.#row < rowCount; this.#row += rows) {
      this.#rows = Math.min(rows, rowCount - this.#row);
      this.#forget('row');
      this.#forget('element');
      const { folds } = phasesOf(this.#geometry.kernel);
      for (const phase of folds) this.#pass(phase);
      if (outputsOf(this.#geometry.kernel, 'element').length > 0) {
        this.#totals.clear();
        this.#eachTile(() => this.#store('element'), scansOf(this.#geometry.kernel)?.reverse);
      }
      this.#store('row');
    }
  }

  #forget(level: Level): void {
    for (const register of this.#registers.values()) if (register.level === level) register.isReady = false;
  }

  /** Calls `visit` for each tile of the current rows; where they are more than one, nothing of elements is kept between. */
  #eachTile(visit: () => void, isReverse = false): void {
    const { rowLength } = this.#geometry;
    const tiles = Math.ceil(rowLength / BLOCK);
    for (let tile = 0; tile < tiles; tile++) {
      this.#element = (isReverse ? tiles - 1 - tile : tile) * BLOCK;
      this.#elements = Math.min(BLOCK, rowLength - this.#element);
      if (rowLength > BLOCK) this.#forget('element');
      visit();
    }
  }

  /** Folds of one phase. */
  #pass(phase: readonly number[]): void {
    const folds = phase.map((index) => {
      const node = this.#nodes[index] as Extract<KernelNode, { kind: 'fold' }>;
      const [operand] = node.operands;
      const { type } = this.#nodes[operand] as KernelNode;
      const fold = foldOf(node.op, type);
      const totals: Totals = {
        values: new Float64Array(this.#rows).fill(fold.empty),
        places: new Float64Array(this.#rows).fill(Infinity),
      };
      return { index, operand, type, fold, totals };
    });
    this.#eachTile(() => {
      for (const { operand, type, fold, totals } of folds)
        this.#fold(fold, totals, numbers(this.#at(operand, 'element'), type));
    });
    for (const { index, fold, totals } of folds) {
      const register = this.#register(index, 'row');
      const results = numbers(register, (this.#nodes[index] as KernelNode).type);
      for (let row = 0; row < this.#rows; row++) results[row] = fold.finish(totals, row, this.#geometry.rowLength);
      register.isReady = true;
    }
  }

  #fold(fold: Fold, totals: Totals, x: Numbers): void {
    for (let row = 0; row < this.#rows; row++) {
      fold.take(totals, row, x, row * this.#elements, this.#elements, this.#element);
    }
  }

  /** All is computed before anything is stored: outputs may be in the place of inputs. */
  #store(level: Level): void {
    const outputs = this.#geometry.kernel.outputs.flatMap((output, index) =>
      output.level === level
        ? [{ ...output, from: this.#at(output.node, level), ...(this.#outputs[index] as Memory) }]
        : [],
    );
    for (const { from, layout, elements, view, scatter } of outputs) {
      if (scatter === undefined) store(layout.dtype, from.i, elements, view, this.#first(level), this.#count(level));
      else this.#scatter(scatter, layout, elements, from, level);
    }
  }

  /** The number of the tile's first point of a level. */
  #first(level: Level): number {
    return level === 'row' ? this.#row : this.#row * this.#geometry.rowLength + this.#element;
  }

  #count(level: Level): number {
    return level === 'call' ? 1 : level === 'row' ? this.#rows : this.#rows * this.#elements;
  }

  /** The values of a node at each point of a level that is as fine as the node's own or finer. */
  #at(index: number, level: Level): Register {
    const node = this.#nodes[index] as KernelNode;
    const register = this.#register(index, level);
    if (register.isReady) return register;
    if (node.level !== level) this.#repeat(this.#at(index, node.level), register);
    else this.#compute(node, index, register);
    register.isReady = true;
    return register;
  }

  /** Bit for bit. */
  #repeat(from: Register, to: Register): void {
    if (from.level === 'call') to.i.fill(from.i[0] as number, 0, this.#count(to.level));
    else
      for (let row = 0; row < this.#rows; row++)
        to.i.fill(from.i[row] as number, row * this.#elements, (row + 1) * this.#elements);
  }

  #register(index: number, level: Level): Register {
    const key = `${index} ${level}`;
    let register = this.#registers.get(key);
    if (register !== undefined) return register;
    const node = this.#nodes[index] as KernelNode;
    const source = operandsOf(node)[0] as number;
    const isSame = node.kind === 'arithmetic' && isView(node.op, (this.#nodes[source] as KernelNode).type);
    if (isSame && node.level === level) {
      const { f, i, u } = this.#register(source, level);
      register = { level, f, i, u, isReady: false };
    } else {
      const { rowCount, rowLength } = this.#geometry;
      // No tile has more rows or points than these.
      const length = level === 'call' ? 1 : Math.min(BLOCK, level === 'row' ? rowCount : rowCount * rowLength);
      const { buffer } = new Float32Array(length);
      register = {
        level,
        f: new Float32Array(buffer),
        i: new Int32Array(buffer),
        u: new Uint32Array(buffer),
        isReady: false,
      };
    }
    this.#registers.set(key, register);
    return register;
  }

  #compute(node: KernelNode, index: number, to: Register): void {
    const { level } = node;
    const { shape, folded, kernel } = this.#geometry;
    switch (node.kind) {
      case 'constant':
        to.i[0] = node.bits;
        return;
      case 'parameter':
        numbers(to, node.type)[0] = this.#params[kernel.params.findIndex(({ name }) => name === node.name)] as number;
        return;
      case 'extent':
        to.u[0] = shape.at(node.axis) as number;
        return;
      case 'index':
      case 'rowIndex': {
        const sizes = node.kind === 'rowIndex' ? shape.slice(0, shape.length - folded) : shape;
        const axis = (node.axis + sizes.length) % sizes.length;
        const view = new View(
          sizes,
          sizes.map((_, other) => (other === axis ? 1 : 0)),
        );
        view.lines(this.#first(level), this.#count(level), (before, value, stride, length) => {
          for (let k = 0; k < length; k++) to.u[before + k] = value + k * stride;
        });
        return;
      }
      case 'input': {
        const { layout, elements, view } = this.#inputs.get(node.name) as Memory;
        load(layout.dtype, to.i, elements, view, this.#first(level), this.#count(level));
        return;
      }
      case 'gather':
        this.#gather(node, to);
        return;
      case 'arithmetic': {
        const operands = node.operands.map((operand) => this.#at(operand, level));
        const types = node.operands.map((operand) => (this.#nodes[operand] as KernelNode).type);
        const type = types.at(-1) as ValueType;
        if (isView(node.op, type)) return;
        const isBits = node.op === 'select';
        const own = operands.map((operand, at) => (isBits ? operand.i : numbers(operand, types[at] as ValueType)));
        const z = isBits ? to.i : numbers(to, node.type);
        const [x = z, y = z, w = z] = own;
        loopOf(node.op, type)(this.#count(level), z, x, y, w);
        return;
      }
      case 'spread':
        to.i.set(this.#at(node.operands[0], level).i.subarray(0, this.#count(level)));
        return;
      case 'scan':
        this.#scan(node, index, to);
        return;
      case 'fold':
        throw new Error('a fold was not computed in its turn');
    }
  }

  #scan(node: ScanNode, index: number, to: Register): void {
    const { type } = node;
    const x = numbers(this.#at(node.operands[0], 'element'), type);
    const totals = this.#totals.get(index) ?? new Float64Array(this.#rows).fill(emptyOf(node.op, type));
    this.#totals.set(index, totals);
    for (let row = 0; row < this.#rows; row++) {
      const run = { x, z: numbers(to, type), at: row * this.#elements, length: this.#elements };
      totals[row] = scanned(node, type, { ...run, total: totals[row]! });
    }
  }

  /** The element of a tensor at indices of any type; outside of it the other value. */
  #gather({ name, level, operands }: Extract<KernelNode, { kind: 'gather' }>, to: Register): void {
    const { layout, elements } = this.#inputs.get(name) as Memory;
    const read = reader(layout.dtype);
    const [otherwise, ...nodes] = operands as [number, ...number[]];
    const outside = this.#at(otherwise, level);
    const indices = this.#indices(nodes, level);
    for (let k = 0; k < this.#count(level); k++) {
      const at = placeAt(layout, indices, k);
      to.i[k] = at < 0 ? outside.i[k]! : read(elements[at]!);
    }
  }

  /** Stores values at indices, one after the other; outside nothing. */
  #scatter(
    { mode, indices: nodes }: NonNullable<KernelOutput['scatter']>,
    layout: RunLayout,
    elements: Elements,
    from: Register,
    level: Level,
  ): void {
    const [read, write, combine] = [reader(layout.dtype), writer(layout.dtype), combiner(mode, layout.type)];
    const indices = this.#indices(nodes, level);
    for (let k = 0; k < this.#count(level); k++) {
      const at = placeAt(layout, indices, k);
      if (at >= 0) elements[at] = write(combine(read(elements[at]!), from.i[k]!));
    }
  }

  #indices(nodes: readonly number[], level: Level): Numbers[] {
    return nodes.map((node) => numbers(this.#at(node, level), (this.#nodes[node] as KernelNode).type));
  }
}

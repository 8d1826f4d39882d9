import { f32ToF16Bits } from '@concord/backend-core';
import type { CheckedRun, FoldNode, ScanNode, KernelNode } from '@concord/backend-core/kernel';
import type { RunData, StoredElements } from '../../src/reference/index.ts';
import { elementOffsets } from '../../src/reference/run/operands.ts';
import { ulpF32 } from '../../src/reference/run/float32.ts';
import { EXACT_FUNCTIONS, FLOAT_FUNCTIONS, powC99 } from '../../src/reference/run/functions.ts';
import { bitsAt, bitsOfFloat32, storedValue, valueOfBits } from '../../src/reference/run/stored-values.ts';
import { foldValues } from './strict-folds.ts';
import { strictInteger } from './strict-integers.ts';

/** A value on the device: a float32, an integer or a bool (0, 1). */
export interface DeviceValue {
  readonly value: number;
  /** Of a product: what it was before it was rounded, for a sum that contracts it. */
  readonly exact?: number;
  /** Of what was read and not changed. */
  readonly copy?: { readonly dtype: string; readonly bits: number };
}

const MAX_F32 = (2 - 2 ** -23) * 2 ** 127;

/**
 * A device that does all that docs/numerics.md lets it do: it evaluates in float32 and takes each freedom by chance. It
 * rounds to nearest or truncates, flushes subnormals or not, gives zeros either sign, contracts products into sums, adds
 * in any order, and has functions that are as wrong as they may be.
 */
export class StrictDevice {
  readonly #geometry: CheckedRun;
  readonly #data: RunData;
  readonly #random: () => number;
  readonly #flushes: boolean;

  constructor(geometry: CheckedRun, data: RunData, random: () => number, flushes: boolean) {
    this.#geometry = geometry;
    this.#data = data;
    this.#random = random;
    this.#flushes = flushes;
  }

  /** The content of each output afterwards, over its whole extent; gaps are 0. */
  run(): StoredElements[] {
    const { outputs, kernel, rowCount, rowLength } = this.#geometry;
    const stored = outputs.map(({ dtype, extent }) => ({
      words: dtype === 'f16' || dtype === 'bf16' ? new Uint16Array(extent) : new Uint32Array(extent),
    }));
    const offsets = outputs.map(elementOffsets);
    for (let row = 0; row < rowCount; row++) {
      const values = this.#evaluateRow(row);
      for (const [index, { node, level }] of kernel.outputs.entries()) {
        const { words } = stored[index] as { words: Uint32Array };
        const own = values[node] as readonly DeviceValue[];
        const first = level === 'row' ? row : row * rowLength;
        for (const [at, value] of own.entries()) {
          words[offsets[index]?.[first + at] as number] = storedBits(outputs[index]?.dtype as string, value);
        }
      }
    }
    return stored.map(({ words }, index) => typed(outputs[index]?.dtype as string, words));
  }

  #evaluateRow(row: number): DeviceValue[][] {
    const { kernel, rowLength } = this.#geometry;
    const values: DeviceValue[][] = [];
    for (const node of kernel.nodes) {
      const count = node.level === 'element' ? rowLength : 1;
      const at = (operand: number, index: number): DeviceValue =>
        values[operand]?.[kernel.nodes[operand]?.level === 'element' ? index : 0] as DeviceValue;
      if (node.kind === 'fold') {
        values.push([{ value: this.#fold(node, rowLength, (index) => at(node.operands[0], index)) }]);
      } else if (node.kind === 'scan') {
        const place = (index: number): number => (node.reverse ? rowLength - 1 - index : index);
        const scanned = (index: number): number =>
          this.#fold(node, place(index) + (node.exclusive ? 0 : 1), (step) => at(node.operands[0], place(step)));
        values.push(Array.from({ length: rowLength }, (_, index) => ({ value: scanned(index) })));
      } else {
        const pointwise = node;
        values.push(
          Array.from({ length: count }, (_, index) =>
            this.#point(pointwise, row, row * rowLength + index, (operand) => at(operand, index)),
          ),
        );
      }
    }
    return values;
  }

  #fold(node: FoldNode | ScanNode, length: number, at: (index: number) => DeviceValue): number {
    const { type } = this.#geometry.kernel.nodes[node.operands[0]] as KernelNode;
    const values = Array.from({ length }, (_, index) => at(index));
    const seen = type === 'f32' ? values.map((value) => ({ ...value, value: this.#operand(value) })) : values;
    const result = foldValues(node.op, type, seen, this.#random, (exact) => this.#rounded(exact));
    return node.type === 'f32' ? this.#result(result) : result;
  }

  #point(node: KernelNode, row: number, at: number, operand: (node: number) => DeviceValue): DeviceValue {
    const { shape, folded, kernel, inputs } = this.#geometry;
    switch (node.kind) {
      case 'constant':
        return node.type === 'f32'
          ? read('f32', node.bits)
          : { value: node.type === 'u32' ? node.bits : node.bits | 0 };
      case 'parameter':
        return node.type === 'f32'
          ? read('f32', bitsOfFloat32(this.#data.params?.[node.name] as number))
          : { value: this.#data.params?.[node.name] as number };
      case 'input': {
        const layout = inputs.find(({ name }) => name === node.name) as CheckedRun['inputs'][number];
        const offset = elementOffsets(layout)[node.level === 'row' ? row : at] as number;
        return read(layout.dtype, bitsAt(this.#data.inputs?.[node.name] as StoredElements, offset));
      }
      case 'index':
      case 'rowIndex':
      case 'extent': {
        const sizes = node.kind === 'rowIndex' ? shape.slice(0, shape.length - folded) : shape;
        const axis = (node.axis + sizes.length) % sizes.length;
        if (node.kind === 'extent') return { value: sizes[axis] as number };
        let rest = node.kind === 'rowIndex' ? row : at;
        for (let other = sizes.length - 1; other > axis; other--) rest = Math.floor(rest / (sizes[other] as number));
        return { value: rest % (sizes[axis] as number) };
      }
      case 'spread':
        return operand(node.operands[0]);
      case 'gather': {
        const layout = inputs.find(({ name }) => name === node.name) as CheckedRun['inputs'][number];
        const index = operand(node.operands[1] as number).value;
        if (index < 0 || index >= (layout.shape[0] as number)) return operand(node.operands[0] as number);
        const offset = index * (layout.strides[0] as number);
        return read(layout.dtype, bitsAt(this.#data.inputs?.[node.name] as StoredElements, offset));
      }
      case 'arithmetic': {
        if (node.op === 'select') {
          return operand(node.operands[operand(node.operands[0] as number).value === 1 ? 1 : 2] as number);
        }
        const { type } = kernel.nodes[node.operands[0] as number] as KernelNode;
        return this.#arithmetic(node, type, node.operands.map(operand));
      }
      case 'fold':
      case 'scan':
        throw new Error('a fold is no point');
    }
  }

  #arithmetic(node: Extract<KernelNode, { op: unknown }>, type: string, operands: readonly DeviceValue[]): DeviceValue {
    const { op } = node;
    if (op === 'bitcastU32' || op === 'bitcastI32') {
      const bits = type === 'f32' ? this.#bits(operands[0] as DeviceValue) : (operands[0] as DeviceValue).value;
      return { value: op === 'bitcastU32' ? bits >>> 0 : bits | 0 };
    }
    if (op === 'bitcastF32')
      return { value: this.#result(valueOfBits('f32', (operands[0] as DeviceValue).value >>> 0)) };
    const values = operands.map((value) => (type === 'f32' ? this.#operand(value) : value.value));
    const [a, b] = values as [number, number];
    if (type !== 'f32') {
      return { value: node.type === 'f32' ? Math.fround(a) : strictInteger(op as never, type as never, a, b) };
    }
    if (op === 'mul') return { value: this.#result(this.#rounded(a * b)), exact: a * b };
    if (op === 'neg') {
      const exact = operands[0]?.exact;
      return { value: this.#result(-a), ...(exact === undefined ? {} : { exact: -exact }) };
    }
    const decided = decide(op, a, b);
    if (decided !== undefined) return { value: decided };
    if (op === 'add' || op === 'sub') {
      const [first, second] = this.#contracted(operands, a, b);
      return { value: this.#result(this.#rounded(op === 'add' ? first + second : first - second)) };
    }
    return { value: this.#result(this.#function(op, a, b)) };
  }

  #function(op: string, a: number, b: number): number {
    const exact = EXACT_FUNCTIONS[op as 'floor'];
    if (exact !== undefined) return exact(a);
    if (op === 'abs') return Math.abs(a);
    if (op === 'min' || op === 'max') return Math[op](a, b);
    if (op === 'sin' || op === 'cos') return this.#wave(op, a);
    if (op === 'div') return this.#wrong(a / b, 3);
    if (op === 'atan2') return this.#wrong(Math.atan2(a, b), 6);
    if (op === 'rsqrt') return this.#wrong(1 / Math.sqrt(a), 4);
    if (op === 'pow') {
      const doublings = Math.abs(b * Math.log2(Math.abs(a)));
      const ulps = Number.isFinite(doublings) ? 16 + 5 * Math.min(doublings, 160) + 3 * Math.abs(b) : 16;
      return this.#wrong(powC99(a, b), ulps);
    }
    const known = FLOAT_FUNCTIONS[op as 'exp'];
    if (known === undefined) throw new Error(`no function ${op}`);
    return this.#wrong(known.of(a), known.ulps(Math.abs(a)));
  }

  /** The grant is of the rounded result: rounding takes half a unit of it. */
  #wave(op: 'sin' | 'cos', x: number): number {
    if (Math.abs(x) > 2 ** 20) return Number.isFinite(x) ? Math.fround(2 * this.#random() - 1) : Number.NaN;
    return Math.fround(Math[op](x) + (2 * this.#random() - 1) * 2 ** -23 * (3.5 + Math.abs(x) / 1024));
  }

  /** A result with the largest error, or any lesser one; its sign stays. */
  #wrong(value: number, ulps: number): number {
    if (value === 0 || !Number.isFinite(value)) return value;
    const share = this.#random() < 0.3 ? Math.sign(this.#random() - 0.5) : 2 * this.#random() - 1;
    const error = Math.min(ulps, 2 ** 23) * share * ulpF32(value);
    const result = Math.fround(value + error);
    return Math.sign(result) === -Math.sign(value) ? 0 : result;
  }

  /** One product beside a sum as it was before it was rounded, or none. */
  #contracted(operands: readonly DeviceValue[], a: number, b: number): [number, number] {
    const [first, second] = operands.map(({ exact }) => exact);
    const chance = this.#random();
    if (first !== undefined && chance < 0.4) return [first, b];
    return second !== undefined && chance > 0.6 ? [a, second] : [a, b];
  }

  /** To nearest, or towards zero where that is in range. */
  #rounded(x: number): number {
    const nearest = Math.fround(x);
    if (Math.abs(nearest) <= Math.abs(x) || !Number.isFinite(nearest) || this.#random() < 0.5) return nearest;
    const below = Math.abs(nearest) - ulpF32(x);
    return Math.sign(nearest) * Math.min(below, MAX_F32);
  }

  #operand({ value }: DeviceValue): number {
    return this.#flushed(value);
  }

  #result(value: number): number {
    const kept = this.#flushed(Math.fround(value));
    return kept === 0 && this.#random() < 0.3 ? -kept : kept;
  }

  #flushed(value: number): number {
    if (value === 0 || Math.abs(value) >= 2 ** -126 || Number.isNaN(value)) return value;
    if (!this.#flushes || this.#random() < 0.5) return value;
    return this.#random() < 0.5 ? 0 : -0;
  }

  #bits({ value, copy }: DeviceValue): number {
    if (copy?.dtype === 'f32') return copy.bits;
    return Number.isNaN(value) ? Math.floor(this.#random() * 2 ** 32) : bitsOfFloat32(value);
  }
}

function read(dtype: string, bits: number): DeviceValue {
  return { value: valueOfBits(dtype as 'f32', bits), copy: { dtype, bits } };
}

/** Comparisons, conversions to integers and what asks for NaN. */
function decide(op: string, a: number, b: number): number | undefined {
  const truncated = (lo: number, hi: number): number =>
    Number.isNaN(a) ? 0 : Math.min(Math.max(Math.trunc(a), lo), hi);
  switch (op) {
    case 'eq':
      return a === b ? 1 : 0;
    case 'ne':
      return a === b ? 0 : 1;
    case 'lt':
      return a < b ? 1 : 0;
    case 'le':
      return a <= b ? 1 : 0;
    case 'gt':
      return a > b ? 1 : 0;
    case 'ge':
      return a >= b ? 1 : 0;
    case 'isNan':
      return Number.isNaN(a) ? 1 : 0;
    case 'isFinite':
      return Number.isFinite(a) ? 1 : 0;
    case 'toI32':
      return truncated(-(2 ** 31), 2 ** 31 - 1);
    case 'toU32':
      return truncated(0, 2 ** 32 - 1);
    default:
      return undefined;
  }
}

function storedBits(dtype: string, { value, copy }: DeviceValue): number {
  if (copy?.dtype === dtype) return copy.bits;
  if (dtype === 'f16') return f32ToF16Bits(value);
  const bits = bitsOfFloat32(value);
  if (dtype === 'f32') return bits;
  if (dtype !== 'bf16') return storedValue(dtype as 'i8', value) >>> 0;
  return Number.isNaN(value) ? 0x7fc0 : (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

function typed(dtype: string, words: Uint32Array | Uint16Array): StoredElements {
  if (words instanceof Uint16Array || dtype === 'u32') return words;
  if (dtype === 'f32') return new Float32Array(words.buffer);
  if (dtype === 'i32') return new Int32Array(words.buffer);
  return dtype === 'i8' ? Int8Array.from(words, (word) => word | 0) : Uint8Array.from(words);
}

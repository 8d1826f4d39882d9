import { ELEMENT_TYPES } from '../contract/element-types.ts';
import { describe } from '../contract/checks.ts';
import type { BackendErrorFields } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import type { ConstantNode, KernelNode } from './graph.ts';
import { GatherHandle, KernelSymbol, NodeValue, ScatterHandle } from './kernel-symbol.ts';
import type { Level, ValueType } from './value-types.ts';

const LEVELS: readonly Level[] = ['call', 'row', 'element'];

/** An engine may keep the bits with which a NaN was made; equal graphs must not differ in them. */
const NAN_BITS = 0x7fc00000;

/** Letters of a name or label: they are in messages and in what is generated. */
export const MAX_NAME = 1024;

const TRUTH_HINT =
  "a === b, a && b and !a see objects and give one of JavaScript's booleans: write k.eq(a, b), k.and(a, b), k.not(a)";

/** The nodes of a kernel in the making: equal ones are one, each stands after its operands. */
export class GraphBuilder {
  readonly nodes: KernelNode[] = [];
  readonly labels: Map<number, string> = new Map();
  readonly #kernel: string;
  readonly #values: NodeValue[] = [];
  readonly #known: Map<string, NodeValue> = new Map();

  /** @throws {BackendError} INVALID_ARGUMENT where `kernel` is not a name */
  constructor(kernel: unknown) {
    this.#kernel = checkText("a kernel's name", kernel, invalid);
  }

  /** The value of a node, which is a new one only if there is no equal one. */
  add(node: KernelNode): NodeValue {
    const text = nodeText(node);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const { type, level } = node;
    const value = new NodeValue(this, type, level, this.nodes.length);
    this.nodes.push(Object.freeze(node));
    this.#values.push(value);
    this.#known.set(text, value);
    return value;
  }

  /** The value of the node with that index. */
  at(node: number): NodeValue {
    return this.#values[node] as NodeValue;
  }

  /** A constant of a type. */
  constant(type: ValueType, value: unknown): NodeValue {
    return this.add({ kind: 'constant', type, level: 'call', bits: this.#bits(type, value) } satisfies ConstantNode);
  }

  /** An operand that must be a value of this kernel. */
  value(what: string, value: unknown): NodeValue {
    if (isNodeValue(value) && KernelSymbol.ownerOf(value) === this) return value;
    throw this.invalid(`${what} must be a value of this kernel, got ${this.#shown(value)}`, hintOf(value));
  }

  /** A gather input that must be one of this kernel. */
  gatherInput(value: unknown): GatherHandle {
    if (KernelSymbol.ownerOf(value) === this && value instanceof GatherHandle) return value;
    throw this.invalid(`gather reads an input that is declared with access: 'gather', got ${this.#shown(value)}`);
  }

  /** Checks a handle that `k.scatter` returned in this kernel. */
  scattered(output: string, value: unknown): ScatterHandle {
    if (KernelSymbol.ownerOf(value) === this && value instanceof ScatterHandle) return value;
    throw this.invalid(
      `output ${output} is declared with access: 'scatter' and must be what k.scatter gives, got ${this.#shown(value)}`,
    );
  }

  /** Operands of one type: plain numbers take that of the first value. */
  operands(what: string, operands: readonly unknown[]): NodeValue[] {
    const typed = operands.find(isNodeValue);
    if (typed === undefined) {
      for (const operand of operands) {
        // Such as an input that is not declared.
        if (!['number', 'boolean'].includes(typeof operand)) this.value(`an operand of ${what}`, operand);
      }
      throw this.invalid(`${what} needs a value among its operands, not plain numbers alone`);
    }
    return operands.map((operand) =>
      typeof operand === 'number' || typeof operand === 'boolean'
        ? this.constant(typed.type, operand)
        : this.value(`an operand of ${what}`, operand),
    );
  }

  /** A name that stands in a record by name. */
  checkName(name: string): void {
    checkLength('a name', name, (detail) => this.invalid(detail));
    // It would be the record's prototype.
    if (name === '__proto__') throw this.invalid('no input, parameter or output may be named __proto__');
  }

  /** A label of a node. */
  checkLabel(label: unknown): string {
    return checkText('a name', label, (detail) => this.invalid(detail));
  }

  /** An error that says which kernel it is about. */
  invalid(detail: string, fields: BackendErrorFields = {}): Error {
    return invalid(`kernel ${this.#kernel}: ${detail}`, fields);
  }

  #shown(value: unknown): string {
    const owner = KernelSymbol.ownerOf(value);
    if (owner === undefined) return describe(value);
    const what =
      value instanceof GatherHandle ? 'a gather input' : value instanceof ScatterHandle ? 'a scatter' : 'a value';
    return owner === this ? what : `${what} of another defineKernel call`;
  }

  #bits(type: ValueType, value: unknown): number {
    if (type === 'bool') {
      if (typeof value !== 'boolean') throw this.invalid(`a bool must be true or false, got ${describe(value)}`);
      return value ? 1 : 0;
    }
    if (typeof value !== 'number')
      throw this.invalid(`an ${type} must be a number, got ${this.#shown(value)}`, hintOf(value));
    const { range } = ELEMENT_TYPES[type];
    if (range === undefined) return Number.isNaN(value) ? NAN_BITS : bitsOf(value);
    const [min, max] = range;
    if (!Number.isInteger(value) || value < min || value > max) {
      throw this.invalid(`an ${type} must be an integer from ${min} to ${max}, got ${describe(value)}`);
    }
    return value >>> 0;
  }
}

/** The finest of some levels; `call` of none. */
export function finest(values: readonly { readonly level: Level }[]): Level {
  return LEVELS[Math.max(0, ...values.map(({ level }) => LEVELS.indexOf(level)))] as Level;
}

/** A node as text, equal for equal nodes. */
export function nodeText(node: KernelNode): string {
  return JSON.stringify(node, Object.keys(node).sort());
}

function bitsOf(value: number): number {
  return new Uint32Array(new Float32Array([value]).buffer)[0] as number;
}

/** Returns whether something is a value of any kernel. */
export function isNodeValue(value: unknown): value is NodeValue {
  // First, since it asks no proxy.
  return KernelSymbol.ownerOf(value) !== undefined && value instanceof NodeValue;
}

function checkText(what: string, text: unknown, error: (detail: string) => Error): string {
  if (typeof text !== 'string' || text === '') throw error(`${what} must be a string, got ${describe(text)}`);
  checkLength(what, text, error);
  return text;
}

function checkLength(what: string, { length }: string, error: (detail: string) => Error): void {
  if (length > MAX_NAME) throw error(`${what} must have at most ${MAX_NAME} letters, got ${length}`);
}

function hintOf(value: unknown): BackendErrorFields {
  if (value === undefined) return { hint: 'is it declared in inputs or params?' };
  return typeof value === 'boolean' ? { hint: TRUTH_HINT } : {};
}

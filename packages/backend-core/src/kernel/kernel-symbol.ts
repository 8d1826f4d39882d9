import type { KernelInput } from './graph.ts';
import type { Value } from './value.ts';
import type { Level, ValueType } from './value-types.ts';

/** The kernel in the making that a symbol belongs to. */
interface Owner {
  invalid(detail: string): Error;
}

/** JavaScript's way to do something with a value, and what to write instead, by the hint of the conversion that it asks for. */
const INSTEAD: Readonly<Record<string, string>> = {
  number:
    'write k.gt(x, 0) for x > 0, k.mul(x, 2) for x * 2, k.neg(x) for -x, k.exp(x) for Math.exp(x), k.select(c, a, b) for c ? a : b',
  default: 'write k.add(x, y) for x + y, k.eq(x, y) for x == y',
  string: 'write k.gather(input, [i], otherwise) for input[i]; a value has no text',
};

/**
 * A symbol that a kernel's function computes with. JavaScript would convert it to NaN without a word, so its operators throw;
 * which symbols are genuine is known by a private field, which no other object has.
 */
export class KernelSymbol {
  readonly #owner: Owner;

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  /** The kernel in the making that made `value`; undefined where this copy of the package did not make it. */
  static ownerOf(value: unknown): Owner | undefined {
    return typeof value === 'object' && value !== null && #owner in value ? value.#owner : undefined;
  }

  /** @throws {BackendError} INVALID_ARGUMENT always */
  [Symbol.toPrimitive](hint: string): never {
    throw this.#owner.invalid(`JavaScript's operators and functions do not compute with symbols: ${INSTEAD[hint]}`);
  }
}

/** The value of a node while the graph grows. */
export class NodeValue extends KernelSymbol implements Value {
  readonly type: ValueType;
  readonly level: Level;
  readonly node: number;

  constructor(owner: Owner, type: ValueType, level: Level, node: number) {
    super(owner);
    this.type = type;
    this.level = level;
    this.node = node;
    Object.freeze(this);
  }
}

/** A value with its indices, as an output that is written by index takes it. */
export class ScatterHandle extends KernelSymbol {
  readonly scattered: ValueType;
  readonly level: Level;
  readonly node: number;
  readonly indices: readonly number[];

  constructor(owner: Owner, { type, node }: NodeValue, indices: readonly number[], level: Level) {
    super(owner);
    this.scattered = type;
    this.level = level;
    this.node = node;
    this.indices = indices;
    Object.freeze(this);
  }
}

/** A gather input as `k.gather` takes it. */
export class GatherHandle extends KernelSymbol {
  readonly gathered: string;
  readonly rank: number;
  readonly input: KernelInput;

  constructor(owner: Owner, input: KernelInput) {
    super(owner);
    this.gathered = input.type;
    this.rank = input.rank;
    this.input = input;
    Object.freeze(this);
  }
}

import { madeOnce } from '@concord/kernel';
import { type FunctionBody, i32, type Local, type Value, v128, type ValueType } from '../../encoder/index.ts';
import { Prologue } from '../common/hoisted-constants.ts';

/** A constant's name among the words of a command. */
const constantName = (bits: number): string => `=${bits >>> 0}`;

/**
 * The arguments that code is given, each under a name: addresses, sizes, parameters, and constants too, since engines build a
 * constant of a vector again in each turn of a loop. A word is read where the function begins, once, however late in the
 * function it turns out to be wanted.
 */
export class Words {
  readonly #prologue: Prologue;
  readonly #args: Local<'i32'>;
  readonly #slots = new Map<string, number>();
  readonly #numbers = new Map<string, Local<'i32'>>();
  readonly #vectors = new Map<string, Local<'v128'>>();

  /** @param args - where the words lie. To be made before anything is put into the body */
  constructor(body: FunctionBody, args: Local<'i32'>) {
    this.#prologue = new Prologue(body);
    this.#args = args;
  }

  /** The names of the words in their order. */
  get names(): readonly string[] {
    return [...this.#slots.keys()];
  }

  /** A word as a number. */
  number(name: string): Local<'i32'> {
    return madeOnce(this.#numbers, name, () => this.hoist(i32.load(this.#args, this.#offset(name))));
  }

  /** A word in each component of a vector. */
  vector(name: string): Local<'v128'> {
    return madeOnce(this.#vectors, name, () => this.hoist(v128.load32Splat(this.#args, this.#offset(name))));
  }

  /** The bits in each component of a vector. */
  constant(bits: number): Local<'v128'> {
    return this.vector(constantName(bits));
  }

  /** Computes a value where the function begins. It may be of words, and of values that were hoisted before. */
  hoist<T extends ValueType>(value: Value<T>): Local<T> {
    return this.#prologue.hoist(value);
  }

  #offset(name: string): number {
    return 4 * madeOnce(this.#slots, name, () => this.#slots.size);
  }
}

/**
 * The arguments of a command.
 *
 * @param values - of each name that is not a constant's; 0 if there is none
 */
export function argumentsOf(names: readonly string[], values: ReadonlyMap<string, number>): Uint32Array {
  return Uint32Array.from(names, (name) => (name.startsWith('=') ? Number(name.slice(1)) : (values.get(name) ?? 0)));
}

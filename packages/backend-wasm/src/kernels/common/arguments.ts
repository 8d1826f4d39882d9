import type { Operand as CallOperand } from '@concord/backend-core/implement';
import type { WasmBuffer } from '../kernel.ts';
import {
  f32,
  type FunctionBody,
  i32,
  type Local,
  type ModuleBuilder,
  type Operand,
  type Value,
} from '../../encoder/index.ts';

/** The address of an operand in the linear memory; 0 for one that is absent and not read. */
export function operandAddress(operand: CallOperand<WasmBuffer> | undefined): number {
  return operand === undefined ? 0 : operand.buffer.address + operand.byteOffset;
}

/** Values of arguments by their names. */
export type ArgumentValues<Required extends string, Optional extends string> = Readonly<Record<Required, number>> &
  Readonly<Partial<Record<Optional, number>>>;

/** The arguments of a command by their names: written by the caller, read by the code at the address of its first parameter. */
export class Arguments<Required extends string, Optional extends string = never> {
  readonly #names: readonly (Required | Optional)[];

  /**
   * @param required - names, separated by spaces
   * @param optional - likewise: arguments that default to 0
   */
  constructor(required: readonly string[], optional: readonly string[] = []) {
    this.#names = [...required, ...optional].flatMap((names) => names.split(' ')) as (Required | Optional)[];
  }

  /** Bytes of the arguments: others of a command begin after them. */
  get bytes(): number {
    return 4 * this.#names.length;
  }

  /**
   * The arguments in their order, as a command takes them: integers count modulo 2^32, as addresses do.
   *
   * @param planned - the arguments that `given` lacks
   */
  pack<Given extends Partial<ArgumentValues<Required, Optional>>>(
    given: Given,
    planned: Omit<ArgumentValues<Required, Optional>, keyof Given>,
  ): number[] {
    const [first, second] = [given, planned] as Partial<ArgumentValues<Required, Optional>>[];
    return this.#names.map((name) => first?.[name] ?? second?.[name] ?? 0);
  }

  /** The names of the words in their order. */
  get names(): readonly (Required | Optional)[] {
    return this.#names;
  }

  /** Reads a word. */
  word(args: Operand<'i32'>, name: Required | Optional): Value<'i32'> {
    return i32.load(args, 4 * this.#names.indexOf(name));
  }

  /** Reads a word that holds the bits of a float32. */
  float(args: Operand<'i32'>, name: Required | Optional): Value<'f32'> {
    return f32.load(args, 4 * this.#names.indexOf(name));
  }
}

type Word = Local<'i32'>;

/** The bytes of a module whose exported function computes tiles of a command, `scratch` being the memory of its thread. */
export function codeOfTiles(
  module: ModuleBuilder,
  compute: (body: FunctionBody, args: Word, firstTile: Word, endTile: Word, scratch: Word) => void,
): Uint8Array<ArrayBuffer> {
  module.function({ params: ['i32', 'i32', 'i32', 'i32'], result: 'none', export: 'run' }, compute);
  return module.toBytes();
}

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The bits of a float32. */
export function bitsOf(value: number): number {
  float[0] = value;
  return bits[0] as number;
}

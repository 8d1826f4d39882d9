import { Op } from '../generated/opcodes.ts';
import { decodeString } from '../literal-string.ts';
import type { NumberType } from './number-text.ts';

/** What earlier instructions say about ids: without it neither numbers nor extended instructions can be read. */
export class ValueTypes {
  readonly #numbers = new Map<number, NumberType>();
  readonly #typeOfValue = new Map<number, number>();
  readonly #sets = new Map<number, string>();

  /** Takes in one instruction, given as all of its words. */
  record(words: Uint32Array, resultType: number | undefined, result: number | undefined): void {
    if (result === undefined) return;
    if (resultType !== undefined) this.#typeOfValue.set(result, resultType);
    const opcode = words[0]! & 0xffff;
    const [width = 0, signedness = 0] = words.subarray(2);
    if (opcode === Op.TypeInt) this.#numbers.set(result, { kind: 'integer', width, isSigned: signedness !== 0 });
    if (opcode === Op.TypeFloat) this.#numbers.set(result, { kind: 'float', width, isSigned: true });
    if (opcode !== Op.ExtInstImport) return;
    const name = decodeString(words.subarray(2));
    if ('text' in name) this.#sets.set(result, name.text);
  }

  /** The number type that an OpTypeInt or OpTypeFloat has declared. */
  numberType(type: number | undefined): NumberType | undefined {
    return type === undefined ? undefined : this.#numbers.get(type);
  }

  /** The number type of a value. */
  numberTypeOf(value: number | undefined): NumberType | undefined {
    return value === undefined ? undefined : this.numberType(this.#typeOfValue.get(value));
  }

  /** The name of an imported set of instructions. */
  setName(id: number): string | undefined {
    return this.#sets.get(id);
  }
}

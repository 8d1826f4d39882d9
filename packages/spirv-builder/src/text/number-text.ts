import { formatFloat, parseFloatBits } from './float-text.ts';

/** The scalar type that says how the words of a number are meant. */
export interface NumberType {
  readonly kind: 'integer' | 'float';
  readonly width: number;
  readonly isSigned: boolean;
}

/** What every literal integer of an instruction is. */
export const word: NumberType = { kind: 'integer', width: 32, isSigned: false };

/** Whether numbers of this type have a text. */
export function isWritable({ kind, width }: NumberType): boolean {
  return kind === 'integer' ? width > 0 && width <= 64 : width === 16 || width === 32 || width === 64;
}

/** How many words a number of this type takes. */
export const wordsOf = ({ width }: NumberType): number => Math.ceil(width / 32);

/** The number in the words, lowest word first. */
export function formatNumber(words: Uint32Array, type: NumberType): string {
  const bits = words.reduceRight((sum, part) => (sum << 32n) | BigInt(part), 0n);
  if (type.kind === 'float') return formatFloat(BigInt.asUintN(type.width, bits), type.width);
  return (type.isSigned ? BigInt.asIntN(words.length * 32, bits) : bits).toString();
}

/** The words of a number; undefined when the text is none, or one that the type cannot hold. */
export function parseNumber(text: string, type: NumberType): number[] | undefined {
  const bits = type.kind === 'float' ? parseFloatBits(text, type.width) : parseInteger(text, type);
  if (bits === undefined) return undefined;
  return Array.from({ length: wordsOf(type) }, (_, index) => Number((bits >> BigInt(32 * index)) & 0xffffffffn));
}

function parseInteger(text: string, { width, isSigned }: NumberType): bigint | undefined {
  // spirv-as takes digits after a leading zero for octal; no text should mean two things, so here they are none.
  const match = /^([+-]?)(0x[0-9a-f]+|0|[1-9]\d*)$/i.exec(text);
  if (!match) return undefined;
  const [, sign, digits = ''] = match;
  const size = BigInt(digits);
  if (sign === '-' && !isSigned) return undefined;
  // Hexadecimal digits are the bits themselves, so 0xffff is -1 for a signed number of 16 bits.
  const areBits = isSigned && sign === '' && /^0x/i.test(digits) && size < 1n << BigInt(width);
  const number = areBits ? BigInt.asIntN(width, size) : sign === '-' ? -size : size;
  const fits = isSigned ? BigInt.asIntN(width, number) === number : BigInt.asUintN(width, number) === number;
  // A signed number narrower than its words is sign-extended into them.
  return fits ? BigInt.asUintN(64, number) : undefined;
}

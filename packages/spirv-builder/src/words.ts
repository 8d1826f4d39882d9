import type { Op } from './generated/spirv.ts';
import { SpirvError } from './spirv-error.ts';
import type { FloatType, IntType } from './type.ts';

const MAX_WORDS = 0xffff;

/**
 * Appends an instruction.
 *
 * @throws {SpirvError} for more words than an instruction can have, and for what is no word: the last line of defence
 */
export function pushInstruction(target: number[], op: Op, operands: readonly number[]): void {
  if (op === undefined) throw new SpirvError('instruction', 'there is no operation of this name');
  const count = operands.length + 1;
  if (count > MAX_WORDS) throw new SpirvError('instruction', `takes ${count} words, and can have ${MAX_WORDS}`);
  target.push(((count << 16) | op) >>> 0);
  for (const operand of operands) {
    if (operand >>> 0 !== operand) throw new SpirvError('instruction', `${operand} is no 32-bit word`);
    target.push(operand);
  }
}

const scratch = new DataView(new ArrayBuffer(8));

/** The words of a literal number: low word first, narrow ones in the low bits of a word. */
export function literalWords(type: IntType | FloatType, value: number | bigint): number[] {
  if (type.kind === 'int') {
    const bits = BigInt.asUintN(64, BigInt(value));
    const low = Number(bits & 0xffff_ffffn);
    if (type.width === 64) return [low, Number(bits >> 32n)];
    // The rest of the word extends the sign for signed types; these have none.
    return [type.width === 32 ? low : low & ((1 << type.width) - 1)];
  }
  const number = Number(value);
  if (type.width === 64) {
    scratch.setFloat64(0, number, true);
    return [scratch.getUint32(0, true), scratch.getUint32(4, true)];
  }
  if (type.width === 16) return [halfBits(number)];
  scratch.setFloat32(0, number, true);
  return [scratch.getUint32(0, true)];
}

/** The bits of the nearest 16-bit float, ties to even. */
function halfBits(value: number): number {
  scratch.setFloat64(0, value, true);
  const sign = (scratch.getUint32(4, true) >>> 16) & 0x8000;
  const magnitude = Math.abs(value);
  if (Number.isNaN(value)) return sign | 0x7e00;
  if (magnitude >= 65_520) return sign | 0x7c00;
  if (magnitude < 2 ** -14) return sign | roundToEven(magnitude * 2 ** 24);
  // log2 rounds: just below a power of two it may give the power, to which the half is rounded as well.
  const exponent = Math.floor(Math.log2(magnitude));
  return sign | (((exponent + 14) << 10) + roundToEven((magnitude / 2 ** exponent) * 1024));
}

function roundToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

// Strings of SPIR-V: UTF-8 with a zero at the end, four bytes to a word, lowest first. Written out here because
// TextEncoder is neither in ECMAScript nor in the types that Node and browsers share.

/** The words of a string, its final zero included. */
export function encodeString(text: string): number[] {
  const bytes = [...utf8(text), 0];
  const words = Array.from({ length: Math.ceil(bytes.length / 4) }, () => 0);
  for (const [index, byte] of bytes.entries()) words[index >> 2]! |= byte << ((index % 4) * 8);
  return words.map((word) => word >>> 0);
}

/** The bytes of a string in UTF-8. Half of a surrogate pair becomes U+FFFD. */
function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    const read = character.codePointAt(0)!;
    const code = read >= 0xd800 && read <= 0xdfff ? 0xfffd : read;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), tail(code, 0));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), tail(code, 6), tail(code, 0));
    else bytes.push(0xf0 | (code >> 18), tail(code, 12), tail(code, 6), tail(code, 0));
  }
  return bytes;
}

const tail = (code: number, shift: number): number => 0x80 | ((code >> shift) & 0x3f);

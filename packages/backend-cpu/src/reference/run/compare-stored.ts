import { elementOffsets } from './operands.ts';
import { NAN, type OutputIntervals, type StoredElements } from './run-data.ts';
import { bitsAt, valueOfBits } from './stored-values.ts';

/** An element of an output that leaves what it may hold. */
export interface StoredMismatch {
  /** The number of elements of `total` that are wrong. */
  readonly wrong: number;
  readonly total: number;
  /** The first wrong element, row-major in the output's shape. */
  readonly index: number;
  /** Its place, in elements from the output's pointer. */
  readonly offset: number;
  readonly got: number;
  /** The allowed values, such as `[0.2499, 0.2501]`, `NaN`, `12`, `one of 3, 900` or `the bits 0x7fc00001`. */
  readonly want: string;
}

/**
 * Compares an output with what it may hold, all elements of it; what lies in gaps is not looked at.
 *
 * @param stored - all elements of the output's extent, f16 and bf16 as bits
 * @returns undefined where each element is right
 */
export function compareStored(output: OutputIntervals, stored: StoredElements): StoredMismatch | undefined {
  const offsets = elementOffsets(output.layout);
  let wrong = 0;
  let first = -1;
  for (let index = 0; index < offsets.length; index++) {
    const bits = bitsAt(stored, offsets[index] as number);
    let layer: OutputIntervals | undefined = output;
    while (layer !== undefined && !accepts(layer, index, bits)) layer = layer.or;
    if (layer !== undefined) continue;
    if (first < 0) first = index;
    wrong++;
  }
  if (first < 0) return undefined;
  const offset = offsets[first] as number;
  const got = valueOfBits(output.layout.dtype, bitsAt(stored, offset));
  return { wrong, total: offsets.length, index: first, offset, got, want: wantedTexts(output, first) };
}

function accepts(output: OutputIntervals, index: number, bits: number): boolean {
  const copied = output.copies.get(index);
  if (copied !== undefined) return bits === copied;
  const value = valueOfBits(output.layout.dtype, bits);
  if (Number.isNaN(value)) return output.nan[index] !== NAN.no;
  const choices = output.choices.get(index);
  if (choices !== undefined) return choices.includes(value);
  return value >= (output.lo[index] as number) && value <= (output.hi[index] as number);
}

function wantedTexts(output: OutputIntervals, index: number): string {
  const texts: string[] = [];
  for (let layer: OutputIntervals | undefined = output; layer !== undefined; layer = layer.or) {
    if (isAnything(layer, index)) texts.push(wantedText(layer, index));
  }
  return texts.join(' or ');
}

/** Returns whether there is any value that an element may have. */
function isAnything({ copies, nan, lo, hi }: OutputIntervals, index: number): boolean {
  return copies.has(index) || nan[index] !== NAN.no || (lo[index] as number) <= (hi[index] as number);
}

function wantedText(output: OutputIntervals, index: number): string {
  const copied = output.copies.get(index);
  if (copied !== undefined) {
    return `the bits 0x${copied.toString(16)} of ${valueOfBits(output.layout.dtype, copied)}`;
  }
  const choices = output.choices.get(index);
  if (choices !== undefined) return `one of ${choices.join(', ')}`;
  const nan = output.nan[index];
  if (nan === NAN.must) return 'NaN';
  const [lo, hi] = [output.lo[index] as number, output.hi[index] as number];
  const numbers = lo === hi ? `${lo}` : `[${lo}, ${hi}]`;
  return nan === NAN.maybe ? `${numbers} or NaN` : numbers;
}

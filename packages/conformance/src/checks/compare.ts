import { CaseFailure, type Mismatch } from '../harness/case.ts';
import { MAX_F16, MAX_F32, ulpF16, ulpF32 } from './bounds.ts';

/** The tolerance of results around the wanted values, and their format. */
export interface Tolerance {
  /** Largest error of entry i, absolute. 0: the wanted value rounded to the format. */
  readonly bound: (index: number) => number;
  readonly format?: 'f32' | 'f16';
  /** Other acceptable values of entry i. */
  readonly also?: (index: number) => readonly number[];
  /** The operands of entry i, for the message. */
  readonly inputs?: (index: number) => string;
}

/**
 * Compares results with wanted values, all entries of them.
 *
 * NaN must be where it is wanted and nowhere else. An infinity passes where the interval around the wanted value
 * reaches beyond the largest finite number. The sign of zero is not compared.
 *
 * @throws {CaseFailure} with the first bad index, got, want, bound, the distance in ulp, and how many are wrong
 */
export function compareAll(
  what: string,
  got: ArrayLike<number>,
  want: ArrayLike<number>,
  { bound, format = 'f32', also, inputs }: Tolerance,
): void {
  if (got.length !== want.length) throw new CaseFailure(`${what}: ${got.length} entries instead of ${want.length}`);
  const largest = format === 'f32' ? MAX_F32 : MAX_F16;
  const accept = (index: number, wanted: number): boolean =>
    isWithin(got[index] as number, wanted, bound(index), largest);
  let first = -1;
  let count = 0;
  for (let i = 0; i < want.length; i++) {
    // Most are equal; the bound need not be worked out for them.
    if (got[i] === want[i] || accept(i, want[i] as number)) continue;
    if (also?.(i).some((other) => accept(i, other)) === true) continue;
    if (first < 0) first = i;
    count++;
  }
  if (first < 0) return;
  const actual = got[first] as number;
  const wanted = want[first] as number;
  const ulp = format === 'f32' ? ulpF32(wanted) : ulpF16(wanted);
  const distance = Math.abs(actual - wanted) / ulp;
  throw mismatchOf({
    ...{ what, unit: 'element', wrong: count, total: want.length, index: first },
    ...{ got: actual, want: wanted, bound: bound(first) },
    ...(Number.isFinite(distance) ? { ulp: distance } : {}),
    ...(inputs === undefined ? {} : { inputs: inputs(first) }),
  });
}

/** The origin of a NaN that was not computed. */
const NAN_BEFORE = '; NaN is what an output holds before the call, and what lies in gaps and guards around operands';

function mismatchOf(mismatch: Mismatch): CaseFailure {
  const { what, wrong, total, index, got, want, bound, ulp, inputs } = mismatch;
  return new CaseFailure(
    `${what}: ${wrong} of ${total} wrong; first at [${index}]: got ${got}, want ${want}` +
      `${inputs === undefined ? '' : ` = ${inputs}`}, ` +
      `${bound === 0 ? 'exactly' : `bound ${bound.toPrecision(3)}`}` +
      `${ulp === undefined ? '' : `, off by ${ulp.toPrecision(3)} ulp`}` +
      `${Number.isNaN(got) && !Number.isNaN(want) ? NAN_BEFORE : ''}`,
    mismatch,
  );
}

function isWithin(got: number, want: number, bound: number, largest: number): boolean {
  if (Number.isNaN(want)) return Number.isNaN(got);
  if (Number.isNaN(got)) return false;
  // Object.is would tell the zeros apart.
  if (got === want) return true;
  // Half a step above the largest finite number everything rounds to infinity.
  const overflow = largest === MAX_F16 ? 65520 : largest * (1 + 2 ** -25);
  if (got === Infinity) return want + bound >= overflow;
  if (got === -Infinity) return want - bound <= -overflow;
  if (Math.abs(want) === Infinity) return false;
  return Math.abs(got - want) <= bound;
}

/**
 * Compares bytes.
 *
 * @throws {CaseFailure} with the first bad offset
 */
export function compareBytes(what: string, got: Uint8Array, want: Uint8Array): void {
  if (got.length !== want.length) throw new CaseFailure(`${what}: ${got.length} bytes instead of ${want.length}`);
  // A plain loop: some operands have 64 MiB.
  let index = 0;
  while (index < want.length && got[index] === want[index]) index++;
  if (index === want.length) return;
  const wrong = want.reduce((count, byte, i) => (got[i] === byte ? count : count + 1), 0);
  const [actual, wanted] = [got[index] as number, want[index] as number];
  throw new CaseFailure(`${what}: byte ${index} of ${want.length} is ${actual}, want ${wanted}`, {
    ...{ what, unit: 'byte', wrong, total: want.length, index },
    ...{ got: actual, want: wanted, bound: 0 },
  });
}

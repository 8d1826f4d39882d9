import type { ComputeBackend, DType, OpName } from '@concord/backend-core';
import { type DefinedOp, ELEMENT_TYPES } from '@concord/backend-core/implement';
import type { Params } from '../harness/case.ts';
import type { Random } from '../harness/random.ts';
import { bytesOf, encodeElement, writeBits } from '../run/placement.ts';

/** A place in memory: so many bytes after the start of the allocation with that number. */
export interface Place {
  readonly id: number;
  readonly at: number;
}

/** A kind of call that programs make, as `program-calls.ts` lists them. */
export type CallKind = DefinedOp | 'kernel' | 'drawn';

/** Copies bytes to the device, which follow from the seed. */
interface WriteStep {
  readonly do: 'write';
  readonly to: Place;
  readonly bytes: number;
  readonly dtype: DType;
  readonly data: WriteData;
  readonly seed: number;
  /** Bytes before the source in its buffer. */
  readonly shift: number;
}

/** Makes a call whose operands begin at the places, in the order of its regions. */
export interface CallStep {
  readonly do: 'call';
  readonly kind: CallKind;
  readonly params: Params;
  readonly places: readonly Place[];
}

/** A step that may stand in a recording. */
export type RecordableStep =
  | { readonly do: 'alloc'; readonly id: number; readonly bytes: number }
  | { readonly do: 'free'; readonly id: number }
  | { readonly do: 'fill'; readonly to: Place; readonly bytes: number; readonly value: number }
  | { readonly do: 'copy'; readonly to: Place; readonly from: Place; readonly bytes: number }
  | WriteStep
  | CallStep;

/**
 * One step of a program. Each is plain data, and each subset of a program's steps is a program: a step that the ones before it
 * leave no memory for is passed over.
 */
export type Step =
  | RecordableStep
  /** A read that is left open until a wait for reads, or the end; one that is given up is aborted at once. */
  | {
      readonly do: 'read';
      readonly from: Place;
      readonly bytes: number;
      readonly shift: number;
      readonly givenUp?: boolean;
    }
  /** `others`: lets the event loop turn, and does not wait for the device. */
  | { readonly do: 'wait'; readonly for: 'reads' | 'device' | 'nothing' | 'others' }
  /** `slotBytes`: of its slot, as `slotOf` names it; known once it is planned. */
  | {
      readonly do: 'record';
      readonly id: number;
      readonly body: readonly RecordableStep[];
      readonly slotBytes?: number | undefined;
    }
  /** `to`: memory in the place of that of its slot. */
  | { readonly do: 'replay'; readonly id: number; readonly to?: Place | undefined }
  | { readonly do: 'release'; readonly id: number };

/** A program for one backend object. */
export type Program = readonly Step[];

/** An operand of a call in a program: a part of one of its regions. */
export interface ProgramOperand {
  readonly name: string;
  readonly dtype: DType;
  /** Elements from the first to the last. */
  readonly elements: number;
  readonly region: number;
  /** Bytes after the start of the region. */
  readonly at: number;
  /** True if the call reads it. */
  readonly reads: boolean;
  /** The distances of the elements that the call writes; undefined: it writes none. */
  readonly writes: ArrayLike<number> | undefined;
  /** Contents that suit it, where the call reads it. */
  readonly data: WriteData;
}

/** The right contents of an operand after a call. */
export interface Expected {
  /** The bits of the element that is written as number `index`; undefined where more than one answer is right. */
  bitsOf(index: number): number | undefined;
  /** @throws {CaseFailure} where the operand's bytes after the call are wrong */
  judge(after: Uint8Array): void;
}

/** A call that is ready but for its operands. */
export interface ProgramCall {
  readonly op: OpName;
  /** The shape that `supports` takes. */
  readonly shape: Readonly<Record<string, unknown>>;
  /** Parts of memory that lie apart; the sizes in bytes. */
  readonly regions: readonly number[];
  readonly operands: readonly ProgramOperand[];
  /** The arguments of the backend's method, with what `ptrOf` gives for each operand. */
  argumentsOf(ptrOf: (operand: number) => unknown): readonly unknown[];
  /**
   * The contents after the call of the operands that it writes, in their order; undefined where the operands hold what the oracle has
   * no answer for. A zero among them may have the other sign.
   *
   * @param bytes - of each operand that is read, in the order of the operands
   */
  evaluate(
    backend: ComputeBackend,
    bytes: readonly Uint8Array[],
    hasLooseZeros: boolean,
  ): readonly Expected[] | undefined;
}

/** A kind of call: draws parameters, and makes calls of them. */
export interface ProgramCallKind {
  draw(random: Random): Params;
  /** @throws anything for parameters that make no call */
  plan(params: Params): ProgramCall;
  /** Smaller parameters, the boldest first. */
  smaller(params: Params): readonly Params[];
}

/** Returns the place of an operand. */
export function placeOfOperand({ region, at }: ProgramOperand, places: readonly Place[]): Place {
  const { id, at: start } = places[region] as Place;
  return { id, at: start + at };
}

/** True if that much memory from two places on has a byte in common. */
export function overlap(one: Place, oneLength: number, other: Place, otherLength: number): boolean {
  return one.id === other.id && one.at < other.at + otherLength && other.at < one.at + oneLength;
}

/** True if no region of a call that it writes to overlaps another. */
export function areDisjoint({ regions, operands }: ProgramCall, places: readonly Place[]): boolean {
  const isWritten = regions.map((_, index) =>
    operands.some(({ region, writes }) => region === index && writes !== undefined),
  );
  return regions.every((bytes, index) =>
    regions.every(
      (otherBytes, other) =>
        other <= index ||
        !((isWritten[index] as boolean) || (isWritten[other] as boolean)) ||
        !overlap(places[index] as Place, bytes, places[other] as Place, otherBytes),
    ),
  );
}

/** The allocations that a recording makes. */
export const allocatedIn = (body: readonly RecordableStep[]): ReadonlySet<number> =>
  new Set(body.flatMap((step) => (step.do === 'alloc' ? [step.id] : [])));

/** The places that recorded steps use. */
export function placesIn(body: readonly RecordableStep[]): Place[] {
  return body.flatMap((step) => {
    if (step.do === 'write' || step.do === 'fill') return [step.to];
    if (step.do === 'copy') return [step.to, step.from];
    return step.do === 'call' ? [...step.places] : [];
  });
}

/** The allocation that is the slot of a recording: one that a copy or a fill writes, and that was there before. */
export function slotOf(body: readonly RecordableStep[]): number | undefined {
  const own = allocatedIn(body);
  const isWrite = (step: RecordableStep): boolean =>
    (step.do === 'write' || step.do === 'fill' || step.do === 'copy') && step.bytes > 0 && !own.has(step.to.id);
  const step = body.find(isWrite);
  return step !== undefined && 'to' in step ? step.to.id : undefined;
}

/** The steps of a recording, and its slot. */
export interface RecordedBody {
  readonly body: readonly RecordableStep[];
  readonly slot: number | undefined;
  readonly slotBytes: number | undefined;
}

/** Returns whether memory may be in the place of a recording's slot: there is enough of it, and it is used for nothing else. */
export function takesSlot({ body, slot, slotBytes = 0 }: RecordedBody, { id, at }: Place, bytes: number): boolean {
  const isElsewhere = placesIn(body).every((place) => place.id !== id);
  return slot !== undefined && slot !== id && isElsewhere && at + slotBytes <= bytes;
}

/** The steps of a recording with other memory in the place of its slot. */
export function withSlotAt({ body, slot }: RecordedBody, to: Place): readonly RecordableStep[] {
  const moved = (place: Place): Place => (place.id === slot ? { id: to.id, at: to.at + place.at } : place);
  return body.map((step): RecordableStep => {
    if (step.do === 'call') return { ...step, places: step.places.map(moved) };
    if (step.do === 'copy') return { ...step, to: moved(step.to), from: moved(step.from) };
    return step.do === 'write' || step.do === 'fill' ? { ...step, to: moved(step.to) } : step;
  });
}

/** Contents of a write: any bits, whole numbers from -8 to 8, numbers in [-1, 1) or [-4, 4), indices about those that are there. */
export type WriteData = 'bits' | 'small' | 'unit' | 'moderate' | 'indices';

/** Elements after which the contents begin again: a prime, in step with no tile. */
const PERIOD = 16_381;

/** A number below 2^32 that follows from the two (the finalizer of MurmurHash3, Austin Appleby). */
function word(index: number, seed: number): number {
  const x = Math.imul((index % PERIOD) + 1, 0x9e3779b1) ^ seed;
  const y = Math.imul(x ^ (x >>> 15), 0x85ebca6b);
  return (y ^ (y >>> 13)) >>> 0;
}

const VALUES: Readonly<Record<WriteData, (word: number) => number>> = {
  bits: (w) => w,
  small: (w) => (w % 17) - 8,
  unit: (w) => w / 2 ** 31 - 1,
  moderate: (w) => w / 2 ** 29 - 4,
  indices: (w) => (w % 16) - 3,
};

/** The same as JavaScript, of a number `w`. */
const VALUE_TEXTS: Readonly<Record<WriteData, string>> = {
  bits: 'w',
  small: '(w % 17) - 8',
  unit: 'w / 2 ** 31 - 1',
  moderate: 'w / 2 ** 29 - 4',
  indices: '(w % 16) - 3',
};

/** {@link word} as JavaScript. */
export const WORD_TEXT: string = [
  'function word(index, seed) {',
  `  const x = Math.imul((index % ${PERIOD}) + 1, 0x9e3779b1) ^ seed;`,
  '  const y = Math.imul(x ^ (x >>> 15), 0x85ebca6b);',
  '  return (y ^ (y >>> 13)) >>> 0;',
  '}',
].join('\n');

const bitsOf = (dtype: DType, data: WriteData, index: number, seed: number): number => {
  const w = word(index, seed);
  if (data === 'bits') return w % 2 ** (8 * bytesOf(dtype));
  const value = VALUES[data](w);
  return encodeElement(dtype, ELEMENT_TYPES[dtype].value === 'u32' ? Math.max(0, value) : value);
};

/** The bytes of a write. */
export function writtenBytes({ bytes: length, dtype, data, seed }: WriteStep): Uint8Array {
  const size = bytesOf(dtype);
  const period = Math.min(Math.ceil(length / size), PERIOD) * size;
  const first = new DataView(new ArrayBuffer(period));
  for (let at = 0; at < period; at += size) writeBits(first, dtype, at, bitsOf(dtype, data, at / size, seed));
  const pattern = new Uint8Array(first.buffer);
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += period) bytes.set(pattern.subarray(0, Math.min(period, length - at)), at);
  return bytes;
}

const WORDS = { 1: 'Uint8Array', 2: 'Uint16Array', 4: 'Uint32Array' };

/** The bytes of a write as JavaScript, for which {@link WORD_TEXT} is there. */
export function writtenText({ bytes, dtype, data, seed }: WriteStep): string {
  const size = bytesOf(dtype);
  const { value: type, Stored } = ELEMENT_TYPES[dtype];
  const isUnsigned = type === 'u32';
  const value = isUnsigned && data !== 'bits' ? `Math.max(0, ${VALUE_TEXTS[data]})` : VALUE_TEXTS[data];
  const list = `{ length: ${Math.ceil(bytes / size)} }, (_, i) => { const w = word(i, ${seed}); return ${value}; }`;
  const whole =
    data === 'bits'
      ? `${WORDS[size as 1 | 2 | 4]}.from(${list})`
      : dtype === 'f16'
        ? `toF16Array(Array.from(${list}))`
        : dtype === 'bf16'
          ? `toBf16Array(Array.from(${list}))`
          : `${Stored.name}.from(${list})`;
  return bytes % size === 0 ? whole : `new Uint8Array(${whole}.buffer, 0, ${bytes})`;
}

/** The bytes of a write behind some others in a buffer of their own, as a view that is not always of bytes. */
export function sourceOf(step: WriteStep, bytes: Uint8Array): ArrayBufferView {
  const { shift } = step;
  const buffer = new Uint8Array(shift + bytes.length);
  buffer.set(bytes, shift);
  return shift % 2 === 1 ? new DataView(buffer.buffer, shift) : buffer.subarray(shift);
}

/** Why a program is wrong. */
export interface ProgramFailure {
  /** The number of the step whose result is wrong, from 0 on; that of the last where memory is at the end. */
  readonly step: number;
  readonly detail: string;
}

/** Counts of what a program did. */
export interface ProgramCounts {
  /** Calls of ops that ran, replays included. */
  calls: number;
  /** The calls whose results were judged or known to the bit. */
  judged: number;
  /** Reads that were compared. */
  reads: number;
  /** Steps that were passed over. */
  skipped: number;
}

/** Counts of nothing yet. */
export const noCounts = (): ProgramCounts => ({ calls: 0, judged: 0, reads: 0, skipped: 0 });

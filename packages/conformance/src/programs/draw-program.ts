import { Random } from '../harness/random.ts';
import { bytesOf } from '../run/placement.ts';
import {
  type CallKind,
  type CallStep,
  type Place,
  placeOfOperand,
  type Program,
  type ProgramOperand,
  type RecordableStep,
  slotOf,
  type Step,
} from './step.ts';
import { planOf, PROGRAM_CALLS } from './program-calls.ts';

/** Lengths where copies change over: words, vectors, lines, alignments of bindings, tiles, groups; and their neighbours. */
const EDGES = [1, 4, 8, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144].flatMap((size) => [size - 1, size, size + 1]);
/** Pieces in which backends cut long transfers, and classes of their pools. */
const LARGE = [1, 2, 4, 8, 16].map((mebibytes) => mebibytes * 2 ** 20);
const HUGE = 64 * 2 ** 20;

/** The weight of each kind of call in a draw. */
const CALL_WEIGHTS: Readonly<Record<CallKind, number>> = {
  ...{ kernel: 8, unary: 4, binary: 4, gemm: 4, batchedGemm: 3, gemmF16: 2, conv2dForward: 3, attention: 2 },
  ...{ reduce: 2, topK: 2, drawn: 1 },
};
const KINDS = Object.entries(CALL_WEIGHTS).flatMap(([kind, weight]) =>
  Array.from({ length: weight }, () => kind as CallKind),
);

/** The most memory that a program has at a time, but for one allocation beyond it. */
const MAX_BYTES = 48 * 2 ** 20;

/** Draws the program with that number: steps on memory that is given out, freed and given out again. */
export function drawProgram(seed: number, length = 40): Program {
  return new Drawer(seed).draw(length);
}

/** A part of memory that holds elements of a dtype. */
interface Part extends Place {
  readonly bytes: number;
  readonly dtype: string;
}

class Drawer {
  readonly #random: Random;
  readonly #sizes = new Map<number, number>();
  /** The recordings, and the slot of each. */
  readonly #recordings = new Map<number, { readonly slot: number; readonly bytes: number } | undefined>();
  readonly #calls: CallStep[] = [];
  /** Sizes that come again and again, as those of a model's tensors do. */
  readonly #usual: readonly number[];
  #parts: Part[] = [];
  #steps: Step[] = [];
  #next = 1;

  constructor(seed: number) {
    this.#random = new Random(`program ${seed}`);
    const random = this.#random;
    this.#usual = Array.from({ length: 3 }, () =>
      random.pick([256, 1024, 4096, 20_000, 65_536, 2 ** 20, random.integer(64, 30_000)]),
    );
  }

  draw(length: number): Program {
    for (let i = 0; i < 3; i++) this.#alloc();
    while (this.#steps.length < length) this.#one();
    return this.#steps;
  }

  #one(): void {
    const random = this.#random;
    const turn = random.integer(0, 99);
    if (turn < 8) this.#alloc();
    else if (turn < 17) this.#free();
    else if (turn < 25) this.#write();
    else if (turn < 31) this.#fill();
    else if (turn < 42) this.#copy();
    else if (turn < 53) this.#read();
    else if (turn < 59)
      this.#steps.push({ do: 'wait', for: random.pick(['reads', 'reads', 'device', 'nothing', 'nothing', 'others']) });
    else if (turn < 62) this.#record();
    else if (turn < 69) this.#replay();
    else if (turn < 73) this.#busy();
    else this.#call();
  }

  #push(step: RecordableStep): void {
    this.#steps.push(step);
  }

  #alloc(bytes = this.#allocationSize()): number {
    const id = this.#next++;
    this.#sizes.set(id, bytes);
    this.#push({ do: 'alloc', id, bytes });
    return id;
  }

  #allocationSize(): number {
    const random = this.#random;
    if (random.chance(0.6)) return random.pick(this.#usual);
    const total = [...this.#sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
    if (total > MAX_BYTES) return random.pick(this.#usual);
    if (random.chance(0.02)) return HUGE + random.pick([0, 1, 4, 300]);
    return random.chance(0.15)
      ? random.pick(LARGE) + random.pick([-1, 0, 1, 60])
      : random.pick(EDGES) + random.pick([0, 0, 260]) + 1;
  }

  /** Frees some allocations, after reads that are owed all the same; half of the time memory like the last is wanted next. */
  #free(): void {
    const random = this.#random;
    const count = Math.min(random.pick([1, 1, 2, 3]), this.#sizes.size - 1);
    if (count < 1) return;
    const ids = random
      .permutation(this.#sizes.size)
      .slice(0, count)
      .map((at) => [...this.#sizes.keys()][at] as number);
    for (const id of ids) {
      const bytes = this.#sizes.get(id) as number;
      if (random.chance(0.5)) this.#steps.push({ do: 'read', from: { id, at: 0 }, bytes, shift: random.integer(0, 3) });
    }
    const bytes = this.#sizes.get(ids.at(-1) as number) as number;
    for (const id of ids.reverse()) {
      this.#push({ do: 'free', id });
      this.#forget(id);
    }
    if (!random.chance(0.5)) return;
    const to = { id: this.#alloc(bytes), at: 0 };
    if (random.chance(0.5)) this.#push({ do: 'fill', to, bytes, value: random.integer(0, 255) });
    else this.#writeTo(to, bytes);
  }

  #forget(id: number): void {
    this.#sizes.delete(id);
    this.#parts = this.#parts.filter((part) => part.id !== id);
  }

  #write(): void {
    const { place, bytes } = this.#span();
    this.#writeTo(place, bytes);
  }

  #writeTo(to: Place, bytes: number): void {
    const random = this.#random;
    const whole = to.at % 4 === 0 && bytes >= 4;
    const dtype = whole ? random.pick(['f32', 'f32', 'f16', 'i32', 'u32', 'u8'] as const) : 'u8';
    const data = dtype === 'f32' || dtype === 'f16' ? random.pick(['small', 'small', 'unit'] as const) : 'bits';
    this.#push({ do: 'write', to, bytes, dtype, data, seed: random.uint32(), shift: random.integer(0, 5) });
    if (whole && dtype !== 'u8') this.#parts.push({ ...to, bytes: bytes - (bytes % 4), dtype });
  }

  #fill(): void {
    const { place, bytes } = this.#span();
    this.#push({ do: 'fill', to: place, bytes, value: this.#random.integer(0, 255) });
  }

  #copy(): void {
    const to = this.#span();
    const from = this.#span();
    const bytes = Math.min(to.bytes, from.bytes);
    const isApart =
      to.place.id !== from.place.id || to.place.at >= from.place.at + bytes || from.place.at >= to.place.at + bytes;
    if (isApart) this.#push({ do: 'copy', to: to.place, from: from.place, bytes });
  }

  #read(): void {
    const random = this.#random;
    const { place, bytes } = this.#span();
    const step = { do: 'read', from: place, bytes, shift: random.integer(0, 5) } as const;
    if (random.chance(0.85)) this.#steps.push(step);
    else this.#giveUp({ ...step, givenUp: true });
  }

  /** A read that is given up while the device has yet to do it, and another transfer as large before it has. */
  #giveUp(step: Extract<Step, { do: 'read' }>): void {
    const random = this.#random;
    if (random.chance(0.7)) this.#busy();
    this.#steps.push(step, { do: 'wait', for: 'others' });
    const to = { id: this.#alloc(step.bytes), at: 0 };
    this.#writeTo(to, step.bytes);
    if (random.chance(0.5)) this.#steps.push({ do: 'read', from: to, bytes: step.bytes, shift: 0 });
  }

  /** Some bytes of an allocation, often all of it, often at odd ends. */
  #span(): { readonly place: Place; readonly bytes: number } {
    const random = this.#random;
    const id = random.pick([...this.#sizes.keys()]);
    const size = this.#sizes.get(id) as number;
    if (random.chance(0.3)) return { place: { id, at: 0 }, bytes: size };
    const wanted = random.chance(0.6) ? random.integer(1, 80) : random.pick(EDGES);
    const bytes = Math.max(1, Math.min(wanted, size));
    const room = size - bytes;
    // The ends, and what lies behind the first pieces.
    const at = random.pick([0, room, random.integer(0, room), Math.min(room, random.integer(0, 20))]);
    return { place: { id, at }, bytes };
  }

  /** Work that takes a while, on memory that holds anything: what comes after it is still in the queue. */
  #busy(): void {
    const size = this.#random.pick([256, 384, 512]);
    const params = {
      ...PROGRAM_CALLS.gemm.draw(new Random('busy')),
      m: size,
      n: size,
      k: size,
      trans: 'NN',
      alpha: 1,
      beta: 0,
    };
    const plain = { ...params, padA: 0, padB: 0, padC: 0, epilogue: '', dtype: 'f32', dtypeB: 'same', batch: 1 };
    const places = Array.from({ length: 3 }, () => ({ id: this.#alloc(4 * size * size), at: 0 }));
    this.#push({ do: 'call', kind: 'gemm', params: plain, places });
    for (const { id } of places) {
      this.#push({ do: 'free', id });
      this.#forget(id);
    }
  }

  #call(): void {
    const step = this.#drawCall();
    if (step === undefined) return;
    this.#push(step);
    this.#calls.push(step);
  }

  /** A call, its inputs written before it or left by an earlier step. */
  #drawCall(): CallStep | undefined {
    const random = this.#random;
    const earlier = this.#calls.length > 0 && random.chance(0.4) ? random.pick(this.#calls) : undefined;
    const kind = earlier?.kind ?? random.pick(KINDS);
    const fresh = PROGRAM_CALLS[kind].draw(random);
    // The same call again, or but for one field.
    const field = random.pick(Object.keys(fresh));
    const isSame = random.chance(0.3);
    const params =
      earlier === undefined ? fresh : isSame ? earlier.params : { ...earlier.params, [field]: fresh[field] ?? 0 };
    const call = planOf({ do: 'call', kind, params, places: [] });
    if (call === undefined || call.regions.some((bytes) => bytes > 2 ** 22)) return undefined;
    const taken: Part[] = [];
    const places = call.regions.map((bytes, region) => {
      const operands = call.operands.filter((operand) => operand.region === region);
      const place = this.#placeFor(bytes, operands, taken);
      taken.push({ ...place, bytes, dtype: '' });
      return place;
    });
    for (const operand of call.operands) this.#prepare(operand, placeOfOperand(operand, places));
    for (const operand of call.operands) {
      if (operand.writes === undefined || operand.elements === 0) continue;
      const place = placeOfOperand(operand, places);
      this.#parts.push({ ...place, bytes: operand.elements * bytesOf(operand.dtype), dtype: operand.dtype });
    }
    return { do: 'call', kind, params, places };
  }

  /** Writes an input, unless an earlier result is to be read. */
  #prepare({ reads, elements, dtype, data }: ProgramOperand, to: Place): void {
    const random = this.#random;
    const bytes = elements * bytesOf(dtype);
    const isThere = this.#parts.some(
      (part) => part.id === to.id && part.at <= to.at && part.at + part.bytes >= to.at + bytes && part.dtype === dtype,
    );
    if (!reads || bytes === 0 || (isThere && random.chance(0.8))) return;
    const kind = data === 'small' && random.chance(0.15) ? 'unit' : data;
    this.#push({ do: 'write', to, bytes, dtype, data: kind, seed: random.uint32(), shift: random.integer(0, 3) });
    this.#parts.push({ ...to, bytes, dtype });
  }

  /** Memory for a region of a call: what an earlier step left there, or room in an allocation, or a new one. */
  #placeFor(bytes: number, operands: readonly ProgramOperand[], taken: readonly Part[]): Place {
    const random = this.#random;
    const isFree = (place: Place): boolean =>
      taken.every(
        (other) => other.id !== place.id || place.at + bytes <= other.at || other.at + other.bytes <= place.at,
      );
    const [only] = operands;
    if (operands.length === 1 && only?.reads === true && random.chance(0.6)) {
      const fitting = this.#parts.filter((part) => part.dtype === only.dtype && part.bytes >= bytes && isFree(part));
      if (fitting.length > 0) {
        const { id, at } = random.pick(fitting);
        return { id, at };
      }
    }
    const alignment = Math.max(1, ...operands.map(({ dtype }) => bytesOf(dtype)));
    for (let turn = 0; turn < 6; turn++) {
      const id = random.pick([...this.#sizes.keys()]);
      const room = (this.#sizes.get(id) as number) - bytes;
      if (room < 0) continue;
      const end = taken.find((part) => part.id === id);
      const wanted = random.pick([0, room, random.integer(0, room), end === undefined ? 0 : end.at + end.bytes]);
      const place = { id, at: Math.floor(Math.min(wanted, room) / alignment) * alignment };
      if (isFree(place)) return place;
    }
    const extra = random.pick([0, 0, 4, 64, 256]);
    return { id: this.#alloc(Math.max(1, bytes) + extra), at: extra };
  }

  #record(): void {
    const random = this.#random;
    const before = this.#steps;
    const outside = new Map(this.#sizes);
    this.#steps = [];
    for (let count = random.integer(1, 5); count > 0; count--) {
      const turn = random.integer(0, 9);
      if (turn < 1) this.#write();
      else if (turn < 2) this.#fill();
      else if (turn < 4) this.#copy();
      else this.#call();
    }
    const body = this.#steps as RecordableStep[];
    this.#steps = before;
    for (const id of [...this.#sizes.keys()]) if (!outside.has(id)) this.#forget(id);
    if (body.length === 0) return;
    const id = this.#next++;
    this.#steps.push({ do: 'record', id, body });
    const slot = slotOf(body);
    this.#recordings.set(id, slot === undefined ? undefined : { slot, bytes: outside.get(slot) as number });
    if (random.chance(0.5)) this.#steps.push({ do: 'replay', id });
  }

  #replay(): void {
    const random = this.#random;
    if (this.#recordings.size === 0) return;
    const id = random.pick([...this.#recordings.keys()]);
    if (random.chance(0.8)) this.#steps.push({ do: 'replay', id, to: this.#otherMemory(id) });
    else this.#steps.push({ do: 'release', id });
  }

  /** Memory that has room for what the slot of a recording holds. */
  #otherMemory(id: number): Place | undefined {
    const random = this.#random;
    const slot = this.#recordings.get(id);
    if (slot === undefined || !random.chance(0.6)) return undefined;
    const others = [...this.#sizes].filter(([other, bytes]) => other !== slot.slot && bytes >= slot.bytes);
    if (others.length === 0) return random.chance(0.5) ? { id: this.#alloc(slot.bytes + 64), at: 64 } : undefined;
    const [other, bytes] = random.pick(others);
    return {
      id: other,
      at: 4 * Math.floor(random.pick([0, bytes - slot.bytes, random.integer(0, bytes - slot.bytes)]) / 4),
    };
  }
}

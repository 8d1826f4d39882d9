import { type ComputeBackend, type DevicePtr, offsetPtr, type Recording } from '@concord/backend-core';
import { explain } from '../run-conformance.ts';
import { bytesOf, writeBits } from '../run/placement.ts';
import {
  compareKnown,
  isFloat,
  isFloatZero,
  KNOWN,
  ModelMemory,
  openRead,
  type ReadManner,
  snapshotOf,
} from './expected.ts';
import {
  allocatedIn,
  areDisjoint,
  type CallStep,
  type Expected,
  noCounts,
  overlap,
  type Place,
  placeOfOperand,
  placesIn,
  type Program,
  type ProgramCall,
  type ProgramCounts,
  type ProgramFailure,
  type ProgramOperand,
  type RecordableStep,
  type RecordedBody,
  slotOf,
  sourceOf,
  type Step,
  takesSlot,
  withSlotAt,
  writtenBytes,
} from './step.ts';
import { planOf } from './program-calls.ts';

/** One thing that is done with the backend; the number is that of its step. */
interface Action {
  readonly step: number;
  readonly run: () => unknown;
}

/** A read, compared when it is done. */
type Read = ReturnType<typeof openRead> & { readonly step: number };

/** Results of a recording's calls, which can only be read when it is over. */
interface Judgement {
  readonly place: Place;
  readonly length: number;
  readonly judge: (after: Uint8Array) => void;
}

/**
 * Runs a program on a backend, and compares what it reads with what the model of the memory knows. All of that is worked out
 * before the first step is made, so that the device has as much in its queue as the program can put there. Every allocation is
 * read at the end, and freed.
 *
 * @returns what was wrong first; undefined where nothing was
 */
export async function runProgram(
  backend: ComputeBackend,
  program: Program,
  counts: ProgramCounts = noCounts(),
): Promise<ProgramFailure | undefined> {
  const run = new ProgramRun(backend, counts);
  try {
    for (const [index, step] of program.entries()) run.plan(index, step);
    await run.make();
    return undefined;
  } catch (error) {
    return { step: run.blamed, detail: explain(error) };
  } finally {
    await run.clear();
  }
}

/** The steps of a program that are not passed over, those in recordings too. */
export function stepsMade(backend: ComputeBackend, program: Program): Program {
  const run = new ProgramRun(backend, noCounts());
  return program.flatMap((step, index) => run.plan(index, step) ?? []);
}

class ProgramRun {
  /** The step whose result is looked at. */
  blamed = 0;
  readonly #backend: ComputeBackend;
  readonly #counts: ProgramCounts;
  readonly #model = new ModelMemory();
  readonly #bodies = new Map<number, RecordedBody>();
  readonly #pointers = new Map<number, DevicePtr>();
  readonly #recordings = new Map<number, Recording>();
  #actions: Action[] = [];
  #reads: Read[] = [];
  /** Results that are still to be judged, if calls are recorded; else they are read at once. */
  #judgements: Judgement[] | undefined;

  constructor(backend: ComputeBackend, counts: ProgramCounts) {
    this.#backend = backend;
    this.#counts = counts;
  }

  /** Follows a step in the model. Returns it without what is passed over; undefined where that is all of it. */
  plan(index: number, step: Step): Step | undefined {
    this.blamed = index;
    const before = this.#actions.length;
    const own = step.do === 'record' ? this.#planRecord(step.id, step.body) : this.#planOne(step);
    return this.#actions.length > before ? own : undefined;
  }

  #planOne(step: Exclude<Step, { do: 'record' }>): Step {
    switch (step.do) {
      case 'read':
        if (this.#holds(step.from, step.bytes)) this.#planRead(step.from, step.bytes, step);
        break;
      case 'wait':
        this.#then(() => this.#wait(step.for));
        break;
      case 'replay':
        this.#planReplay(step.id, step.to);
        break;
      case 'release':
        if (!this.#bodies.delete(step.id)) break;
        this.#then(() => {
          this.#recordings.get(step.id)?.dispose();
          this.#recordings.delete(step.id);
        });
        break;
      default:
        this.#planStep(step);
    }
    return step;
  }

  /** Does what was planned, reads all memory, and compares. */
  async make(): Promise<void> {
    for (const id of this.#model.live) this.#planRead({ id, at: 0 }, this.#model.sizeOf(id));
    for (const { step, run } of this.#actions) {
      this.blamed = step;
      const result = run();
      if (result instanceof Promise) await result;
    }
    await this.#wait('reads');
  }

  async clear(): Promise<void> {
    await Promise.allSettled(this.#reads.map(({ done }) => done));
    try {
      for (const recording of this.#recordings.values()) recording.dispose();
      for (const ptr of this.#pointers.values()) this.#backend.free(ptr);
    } catch {
      // What was wrong has been told; a backend that failed may refuse.
    }
  }

  #then(run: () => unknown): void {
    this.#actions.push({ step: this.blamed, run });
  }

  /** Plans a step that may be recorded. */
  #planStep(step: RecordableStep): void {
    const backend = this.#backend;
    switch (step.do) {
      case 'alloc': {
        const { id, bytes } = step;
        if (this.#model.sizeOf(id) > 0 || bytes > backend.capabilities.limits.maxAllocationBytes) return;
        this.#model.alloc(id, bytes);
        return this.#then(() => this.#pointers.set(id, backend.alloc(bytes)));
      }
      case 'free': {
        const { id } = step;
        if (this.#model.sizeOf(id) === 0) return;
        this.#model.free(id);
        return this.#then(() => {
          const ptr = this.#pointers.get(id) as DevicePtr;
          this.#pointers.delete(id);
          backend.free(ptr);
        });
      }
      case 'write': {
        const { to, bytes: length } = step;
        if (!this.#holds(to, length)) return;
        const bytes = writtenBytes(step);
        this.#change(to, length);
        this.#model.write(to, bytes);
        return this.#then(() => {
          const source = sourceOf(step, bytes);
          backend.copyHtod(this.#ptrOf(to), source);
          // It is the program's again at once.
          new Uint8Array(source.buffer).fill(0xee);
        });
      }
      case 'fill': {
        const { to, bytes, value } = step;
        if (!this.#holds(to, bytes)) return;
        this.#change(to, bytes);
        this.#model.fill(to, bytes, value);
        return this.#then(() => backend.fill(this.#ptrOf(to), value, bytes));
      }
      case 'copy': {
        const { to, from, bytes } = step;
        if (!this.#holds(to, bytes) || !this.#holds(from, bytes) || overlap(to, bytes, from, bytes)) return;
        this.#change(to, bytes);
        this.#model.copy(to, from, bytes);
        return this.#then(() => backend.copyDtod(this.#ptrOf(to), this.#ptrOf(from), bytes));
      }
      case 'call':
        this.#planCall(step);
    }
  }

  #planCall(step: CallStep): void {
    const { places } = step;
    const call = planOf(step);
    if (call === undefined || !this.#isPossible(call, places)) {
      this.#counts.skipped++;
      return;
    }
    this.#then(() => {
      const method = this.#backend[call.op] as (...args: readonly unknown[]) => void;
      const ptrOf = (operand: number): DevicePtr =>
        this.#ptrOf(placeOfOperand(call.operands[operand] as ProgramOperand, places));
      method.apply(this.#backend, [...call.argumentsOf(ptrOf)]);
    });
    this.#counts.calls++;
    const expected = this.#expected(call, places);
    if (expected !== undefined) this.#counts.judged++;
    const written = call.operands.filter(({ writes }) => writes !== undefined);
    // Outputs may lie element by element between each other: all are known before one is read.
    const judgements = written.flatMap((operand, index) =>
      this.#store(operand, placeOfOperand(operand, places), expected?.[index]),
    );
    if (this.#judgements !== undefined) this.#judgements.push(...judgements);
    else for (const { place, length, judge } of judgements) this.#planRead(place, length, {}, judge);
  }

  #isPossible(call: ProgramCall, places: readonly Place[]): boolean {
    return (
      call.regions.length === places.length &&
      call.regions.every((bytes, index) => this.#model.holds(places[index] as Place, Math.max(1, bytes))) &&
      call.operands.every((operand) => placeOfOperand(operand, places).at % bytesOf(operand.dtype) === 0) &&
      areDisjoint(call, places) &&
      this.#backend.supports(call.op, call.shape).ok
    );
  }

  #expected(call: ProgramCall, places: readonly Place[]): readonly Expected[] | undefined {
    let hasLooseZeros = false;
    const contents: Uint8Array[] = [];
    for (const operand of call.operands) {
      if (!operand.reads) continue;
      const { bytes, known } = this.#model.at(
        placeOfOperand(operand, places),
        operand.elements * bytesOf(operand.dtype),
      );
      if (known.includes(KNOWN.nothing)) return undefined;
      if (known.includes(KNOWN.butSign)) {
        if (!isFloat(operand.dtype)) return undefined;
        hasLooseZeros = true;
      }
      contents.push(bytes.slice());
    }
    return call.evaluate(this.#backend, contents, hasLooseZeros);
  }

  /** Notes what a call writes into an operand. Returns what is to be judged, as it is not known. */
  #store(operand: ProgramOperand, place: Place, expected: Expected | undefined): Judgement[] {
    const { dtype, elements, writes = [] } = operand;
    const size = bytesOf(dtype);
    this.#change(place, elements * size);
    const { bytes, known } = this.#model.at(place, elements * size);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let isKnown = true;
    for (let index = 0; index < writes.length; index++) {
      const at = (writes[index] as number) * size;
      const bits = expected?.bitsOf(index);
      known.fill(bits === undefined ? KNOWN.nothing : KNOWN.byte, at, at + size);
      isKnown &&= bits !== undefined;
      if (bits === undefined) continue;
      const isZero = isFloatZero(dtype, bits);
      writeBits(view, dtype, at, isZero ? 0 : bits);
      if (isZero) known[at + size - 1] = KNOWN.butSign;
    }
    if (expected === undefined || isKnown) return [];
    return [{ place, length: elements * size, judge: (after) => expected.judge(after) }];
  }

  #planRecord(id: number, body: readonly RecordableStep[]): Step | undefined {
    if (this.#bodies.has(id)) return undefined;
    const sizes = new Map(this.#model.live.map((each) => [each, this.#model.sizeOf(each)]));
    const { actions, made } = this.#planBody(body);
    const slot = slotOf(made);
    const slotBytes = slot === undefined ? undefined : sizes.get(slot);
    this.#bodies.set(id, { body, slot, slotBytes });
    this.#then(() => {
      const work = (): void => {
        for (const { run } of actions) run();
      };
      if (this.#backend.record === undefined) return work();
      const options =
        slot && slotBytes ? { slots: { s: { ptr: this.#ptrOf({ id: slot, at: 0 }), bytes: slotBytes } } } : {};
      this.#recordings.set(id, this.#backend.record(work, options));
    });
    this.#judge();
    return { do: 'record', id, body: made, slotBytes };
  }

  #planReplay(id: number, to: Place | undefined): void {
    const planned = this.#bodies.get(id);
    if (planned === undefined) return;
    if (to !== undefined && !takesSlot(planned, to, this.#model.sizeOf(to.id))) return;
    const body = to === undefined ? planned.body : withSlotAt(planned, to);
    const own = allocatedIn(body);
    const isThere = (place: Place): boolean => this.#model.sizeOf(place.id) > 0;
    if (!placesIn(body).every((place) => own.has(place.id) || isThere(place))) return;
    const { actions } = this.#planBody(body);
    this.#then(() => {
      const recording = this.#recordings.get(id);
      if (recording !== undefined) recording.replay(to && { s: this.#ptrOf(to) });
      else for (const { run } of actions) run();
    });
    this.#judge();
  }

  /** Plans the steps of a recording; memory that they allocate is freed at its end. */
  #planBody(body: readonly RecordableStep[]): {
    readonly actions: readonly Action[];
    readonly made: readonly RecordableStep[];
  } {
    const outside = this.#actions;
    this.#actions = [];
    this.#judgements = [];
    const made = body.filter((step) => {
      const before = this.#actions.length;
      this.#planStep(step);
      return this.#actions.length > before;
    });
    for (const id of allocatedIn(body)) this.#planStep({ do: 'free', id });
    const actions = this.#actions;
    this.#actions = outside;
    return { actions, made };
  }

  #judge(): void {
    const judgements = this.#judgements ?? [];
    this.#judgements = undefined;
    for (const { place, length, judge } of judgements) {
      if (this.#model.holds(place, length)) this.#planRead(place, length, {}, judge);
    }
  }

  /** Notes a change: what is written over needs no judgement any more. */
  #change(place: Place, length: number): void {
    this.#judgements = this.#judgements?.filter((other) => !overlap(place, length, other.place, other.length));
  }

  #planRead(from: Place, length: number, how: ReadManner = {}, judge?: (after: Uint8Array) => void): void {
    const step = this.blamed;
    const expected = snapshotOf(this.#model.at(from, length));
    this.#then(() => {
      const { done, check } = openRead(this.#backend, this.#ptrOf(from), length, how, (got) => {
        judge?.(got);
        compareKnown(from, expected, got);
      });
      this.#reads.push({ step, done, check });
    });
  }

  async #wait(what: Extract<Step, { do: 'wait' }>['for']): Promise<void> {
    if (what === 'nothing') return this.#backend.flush();
    if (what === 'others') return new Promise((next) => setTimeout(next));
    if (what === 'device') return this.#backend.synchronize();
    const reads = this.#reads;
    this.#reads = [];
    const settled = await Promise.allSettled(reads.map(({ done }) => done));
    for (const [index, { step, check }] of reads.entries()) {
      this.blamed = step;
      const outcome = settled[index];
      if (outcome?.status === 'rejected') throw outcome.reason;
      this.#counts.reads++;
      check();
    }
  }

  #holds(place: Place, length: number): boolean {
    const holds = length > 0 && this.#model.holds(place, length);
    if (!holds) this.#counts.skipped++;
    return holds;
  }

  #ptrOf({ id, at }: Place): DevicePtr {
    return offsetPtr(this.#pointers.get(id) as DevicePtr, at);
  }
}

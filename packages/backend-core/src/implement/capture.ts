import type { Recording } from '../contract/backend.ts';
import { isBackendError } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import { reading } from '../errors/reading.ts';
import type { Allocation } from './allocation-table.ts';
import type { Launch } from './backend-kernels.ts';
import type { Operand } from './operand.ts';
import type { Binding, RecordingSlots, Use } from './recording-slots.ts';

/** Calls that are queued again and again. */
export interface Sequence {
  /** Queues them, as if each of them was made now. */
  run(): void;
  /** Gives back what {@link Sequence.run} needs. It is not called any more. */
  release(): void;
}

/** The parts of its backend that a {@link Capture} needs. */
export interface CaptureOptions<Buffer> {
  readonly sequence: (calls: readonly Launch<Buffer>[]) => Sequence;
  /** Queues a sequence, which is of these calls. */
  readonly run: (sequence: Sequence, calls: readonly Launch<Buffer>[]) => void;
  readonly assertReplayable: () => void;
  readonly slots: RecordingSlots<Buffer>;
  /** Gives back {@link Capture.takeSpare}. */
  readonly onDispose: () => void;
}

/** Work on device memory: a call, or a copy or fill. */
interface MemoryStep<Buffer> {
  readonly operands: readonly Operand<Buffer>[];
  /** The slot of each operand, -1 for none. */
  readonly slots: readonly number[];
  readonly launch?: Launch<Buffer>;
  readonly queue?: (operands: readonly Operand<Buffer>[]) => void;
}

/** What a replay does, with the memory of one binding. */
interface Program<Buffer> {
  readonly binding: Binding<Buffer>;
  readonly steps: readonly (() => void)[];
  readonly sequences: readonly Sequence[];
}

/** Programs that are kept besides the one with the recorded memory: steps take turns among a few buffers. */
const MAX_PROGRAMS = 4;

/**
 * The content of a recording: calls with their operands in device memory, copies and fills. Memory that was allocated and
 * freed meanwhile stays, since a replay writes it again; later allocations of the recording take it.
 */
export class Capture<Buffer> implements Recording {
  readonly #options: CaptureOptions<Buffer>;
  readonly #steps: MemoryStep<Buffer>[] = [];
  /** Memory that was allocated in it. */
  readonly #made = new Set<Buffer>();
  /** Of that, what was freed in it. */
  #spare: Allocation<Buffer>[] = [];
  /** The one used last is the last. */
  #programs: Program<Buffer>[] = [];
  #state: 'recording' | 'ready' | 'disposed' = 'recording';
  #freed: string | undefined;

  constructor(options: CaptureOptions<Buffer>) {
    this.#options = options;
  }

  /** True if calls are taken down. */
  get isRecording(): boolean {
    return this.#state === 'recording';
  }

  /** Bytes that were freed and are kept. */
  get spareBytes(): number {
    return this.#spare.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Memory that was freed and is kept. */
  *spareBuffers(): Generator<Buffer> {
    for (const { buffer } of this.#spare) yield buffer;
  }

  /** The same, which is the caller's from now on. */
  takeSpare(): Buffer[] {
    const buffers = this.#spare.map(({ buffer }) => buffer);
    this.#spare = [];
    return buffers;
  }

  /**
   * Is told of the memory that a call of `op` uses, before it is queued.
   *
   * @throws {BackendError} INVALID_ARGUMENT for memory that is partly in a slot
   */
  uses(op: string, uses: readonly Use<Buffer>[]): void {
    if (this.isRecording) this.#options.slots.note(op, uses);
  }

  /** Records a call. */
  call(launch: Launch<Buffer>): void {
    if (this.isRecording) this.#steps.push({ ...this.#placed(launch.operands), launch });
  }

  /** Records a copy or a fill. */
  memory(operands: readonly Operand<Buffer>[], queue: (operands: readonly Operand<Buffer>[]) => void): void {
    if (this.isRecording) this.#steps.push({ ...this.#placed(operands), queue });
  }

  #placed(operands: readonly Operand<Buffer>[]): Pick<MemoryStep<Buffer>, 'operands' | 'slots'> {
    return { operands, slots: operands.map((operand) => this.#options.slots.slotOf(operand)) };
  }

  /** Memory of that size that was freed in the recording, for another allocation of it. */
  takeFreed(bytes: number): Buffer | undefined {
    const found = this.#spare.findIndex((each) => each.bytes === bytes);
    return found < 0 ? undefined : this.#spare.splice(found, 1)[0]?.buffer;
  }

  /** Called for each allocation made while recording. */
  allocated(buffer: Buffer): void {
    this.#made.add(buffer);
  }

  /** Called for each free. @returns whether the recording keeps the memory */
  freed(allocation: Allocation<Buffer>): boolean {
    const { buffer, bytes, label } = allocation;
    if (this.isRecording && this.#made.has(buffer)) {
      this.#spare.push(allocation);
      return true;
    }
    const what = (): string => (label === undefined ? `an allocation of ${bytes} bytes` : `the allocation "${label}"`);
    if (this.#options.slots.freed(buffer, what)) this.#freed ??= what();
    const { slots } = this.#options;
    if (this.#state === 'ready' && !slots.isEmpty) {
      // Programs with it would never run again, and the driver may give the same buffer out again.
      const left = this.#programs.filter(({ binding }) => !slots.uses(binding, buffer));
      if (left.length < this.#programs.length) this.#keep(left);
    }
    return false;
  }

  /** @throws {BackendError} INVALID_ARGUMENT while calls are taken down */
  refuse(op: string): void {
    if (!this.isRecording) return;
    throw invalid(`${op} cannot be recorded`, { hint: `call ${op} after record` });
  }

  /**
   * Ends the recording: from now on it can be replayed.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a slot that nothing uses
   */
  finish(): void {
    this.#state = 'ready';
    this.#made.clear();
    const { slots } = this.#options;
    slots.checkUsed();
    this.#programs.push(this.#program([]));
    // Without slots there is no other program.
    if (slots.isEmpty) this.#steps.length = 0;
  }

  /** The work with the memory of a replay. */
  #program(binding: Binding<Buffer>): Program<Buffer> {
    const { slots } = this.#options;
    const steps: (() => void)[] = [];
    const sequences: Sequence[] = [];
    let calls: Launch<Buffer>[] = [];
    const flush = (): void => {
      if (calls.length === 0) return;
      const own = calls;
      const made = this.#sequenceOf(own, sequences);
      sequences.push(made);
      steps.push(() => this.#options.run(made, own));
      calls = [];
    };
    for (const step of this.#steps) {
      const { launch, queue } = step;
      const isOwn = binding.length === 0 || step.slots.every((slot) => slot < 0);
      const placed = (operand: Operand<Buffer>, index: number): Operand<Buffer> =>
        slots.place(operand, step.slots[index] as number, binding);
      const operands = isOwn ? step.operands : step.operands.map(placed);
      if (launch !== undefined) calls.push(isOwn ? launch : { ...launch, operands });
      else {
        flush();
        steps.push(() => queue?.(operands));
      }
    }
    flush();
    return { binding, steps, sequences };
  }

  /** Where one cannot be made, those before it are given back. */
  #sequenceOf(calls: readonly Launch<Buffer>[], before: readonly Sequence[]): Sequence {
    try {
      return this.#options.sequence(calls);
    } catch (error) {
      for (const each of before) each.release();
      throw error;
    }
  }

  /** The program with the memory that a replay is given; the one used last is there again at once. */
  #bound(pointers: readonly (number | undefined)[]): Program<Buffer> {
    const binding = this.#options.slots.bind(pointers);
    const wanted = binding.some((memory) => memory !== undefined) ? binding : [];
    const found = this.#programs.findIndex((program) => isSameMemory(program.binding, wanted));
    const [known] = found < 0 ? [] : this.#programs.splice(found, 1);
    if (known === undefined) this.#options.slots.checkApart(binding);
    const program = known ?? this.#programWithRoom(wanted);
    this.#programs.push(program);
    const bound = this.#programs.filter((each) => each.binding.length > 0);
    if (bound.length > MAX_PROGRAMS) this.#keep(this.#programs.filter((each) => each !== bound[0]));
    return program;
  }

  /** Each program has temporary memory: that of the others goes where there is none left. */
  #programWithRoom(binding: Binding<Buffer>): Program<Buffer> {
    try {
      return this.#program(binding);
    } catch (error) {
      if (!isBackendError(error, 'OUT_OF_MEMORY') || this.#programs.length === 0) throw error;
      this.#keep([]);
      return this.#program(binding);
    }
  }

  /** Gives all other programs back. */
  #keep(programs: Program<Buffer>[]): void {
    for (const program of this.#programs) {
      if (!programs.includes(program)) for (const sequence of program.sequences) sequence.release();
    }
    this.#programs = programs;
  }

  replay(given?: unknown): void {
    // Its getters may do anything: what follows is asked after them.
    const pointers = given === undefined ? [] : reading('the operands', () => this.#options.slots.read(given));
    if (this.#state === 'disposed') throw invalid('the recording was disposed');
    this.#options.assertReplayable();
    if (this.#freed !== undefined) {
      throw invalid(`the recording uses memory that was freed: ${this.#freed}`, { hint: 'record again' });
    }
    const program = this.#options.slots.isEmpty ? (this.#programs[0] as Program<Buffer>) : this.#bound(pointers);
    for (const step of program.steps) step();
  }

  dispose(): void {
    if (this.#state === 'disposed') return;
    this.#state = 'disposed';
    this.#keep([]);
    this.#steps.length = 0;
    this.#options.onDispose();
  }
}

function isSameMemory<Buffer>(a: Binding<Buffer>, b: Binding<Buffer>): boolean {
  return (
    a.length === b.length &&
    a.every((memory, slot) => memory?.buffer === b[slot]?.buffer && memory?.byteOffset === b[slot]?.byteOffset)
  );
}

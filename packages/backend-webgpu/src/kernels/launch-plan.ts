import type { ResolvedCall } from '@concord/backend-core/implement';
import { checkSteps, type Place, PlanMemory, type VariantPick } from '@concord/variants';
import { type Dispatch, dispatchesOf } from './dispatch.ts';
import { planCall } from './plans.ts';
import type { DeviceTraits, Launch, Recorder, Span, StorageBuffer } from './recorder.ts';

/** The launches of an op: for one call, and for every other whose operands lie as those of that one do. */
export interface LaunchPlan {
  /** Not that of any other plan in this process. */
  readonly id: number;
  readonly steps: readonly Step[];
  /** The operands that are written. */
  readonly written: readonly number[];
  /** The memory that all of its bindings may be elsewhere in. */
  readonly moving: ReadonlySet<number>;
  /** Bytes of each piece of scratch memory. */
  readonly scratch: readonly number[];
  /** The choices between variants, one for each panel or window. */
  readonly picks: readonly VariantPick[];
}

/** A dispatch or a copy whose memory is told by {@link Place}s. */
export type Step = PlannedDispatch | { readonly dst: Place; readonly src: Place };

/** A dispatch of a plan. */
export interface PlannedDispatch extends Omit<Dispatch, 'spans'> {
  /** The bound buffers, in the kernel's order. */
  readonly places: readonly Place[];
}

let lastId = 0;

/**
 * Plans a call.
 *
 * @param operands - those of the call, in their order
 *
 * @throws {BackendError} UNSUPPORTED when the device cannot run it, OUT_OF_MEMORY when its scratch memory is too large
 */
export function planOp(op: ResolvedCall<StorageBuffer>, operands: readonly Span[], traits: DeviceTraits): LaunchPlan {
  const recorder = new OpRecorder(traits, operands);
  planCall(op, recorder);
  const { steps, memory, picks } = recorder;
  const written = [...recorder.written].filter((index) => index < operands.length);
  return { id: ++lastId, steps, written, moving: movingMemory(steps), scratch: memory.scratchBytes, picks };
}

function movingMemory(steps: readonly Step[]): ReadonlySet<number> {
  const moving = new Set<number>();
  const fixed = new Set<number>();
  for (const step of steps) {
    const places = 'dst' in step ? [step.dst, step.src] : step.places;
    const moves = 'dst' in step ? [] : step.moving.map(({ index }) => index);
    for (const [index, { memory }] of places.entries()) (moves.includes(index) ? moving : fixed).add(memory);
  }
  for (const memory of fixed) moving.delete(memory);
  return moving;
}

/** Notes what a plan launches and copies. */
class OpRecorder implements Recorder {
  readonly traits: DeviceTraits;
  readonly steps: Step[] = [];
  readonly picks: VariantPick[] = [];
  /** Which memory is written. */
  readonly written: Set<number> = new Set();
  readonly memory: PlanMemory<StorageBuffer>;

  constructor(traits: DeviceTraits, operands: readonly Span[]) {
    this.traits = traits;
    this.memory = new PlanMemory(operands, fakeSpan);
  }

  notePick(pick: VariantPick): void {
    this.picks.push(pick);
  }

  launch(launch: Launch): void {
    for (const { spans, ...dispatch } of dispatchesOf(launch, this.traits.maxWorkgroupsPerDimension)) {
      const places = spans.map((span) => this.memory.placeOf(span));
      for (const [index, { access }] of dispatch.kernel.storage.entries()) {
        if (access === 'read_write') this.written.add((places[index] as Place).memory);
      }
      checkSteps(this.steps.push({ ...dispatch, places }));
    }
  }

  copy(dst: Span, src: Span): void {
    const place = this.memory.placeOf(dst);
    this.written.add(place.memory);
    checkSteps(this.steps.push({ dst: place, src: this.memory.placeOf(src) }));
  }

  scratch(bytes: number): Span {
    return this.memory.scratch(bytes, this.traits.maxBufferBytes, 'buffer');
  }
}

/** A span that stands for a separate allocation. */
export function fakeSpan(byteLength: number): Span {
  const size = Math.ceil(byteLength / 4) * 4;
  const buffer: StorageBuffer = { id: ++lastId, size, label: 'planned', home: undefined };
  return { buffer, byteOffset: 0, byteLength };
}

import { BackendError } from '@concord/backend-core';
import type { CheckedOp } from '@concord/backend-core/implement';
import { type Dispatch, dispatchesOf } from './dispatch.ts';
import { planCall } from './plans.ts';
import type { DeviceTraits, Launch, Recorder, Span, StorageBuffer } from './recorder.ts';
import type { VariantPick } from './variant-choice.ts';

/** What an op runs: for one call, and for every other whose operands lie as those of that one do. */
export interface OpPlan {
  /** Not that of any other plan in this process. */
  readonly id: number;
  readonly steps: readonly Step[];
  /** Bytes of each piece of scratch memory. */
  readonly scratch: readonly number[];
  /** The choices between variants, one for each panel or window. */
  readonly picks: readonly VariantPick[];
}

/** A dispatch or a copy whose memory is told by {@link Place}s. */
export type Step = PlannedDispatch | { readonly dst: Place; readonly src: Place };

/** A dispatch of a plan. */
export interface PlannedDispatch extends Omit<Dispatch, 'spans'> {
  /** What is bound, in the kernel's order. */
  readonly places: readonly Place[];
}

/** A piece of the memory of an op. */
export interface Place {
  /** Which memory: the operands in their order, then the scratch memory. */
  readonly memory: number;
  /** Bytes from its start; negative where a binding has to begin before an operand. */
  readonly byteOffset: number;
  readonly byteLength: number;
}

let lastId = 0;

/**
 * Plans a call.
 *
 * @param operands - those of the call, in their order
 *
 * @throws {BackendError} UNSUPPORTED when the device cannot run it, OUT_OF_MEMORY when its scratch memory is too large
 */
export function planOp(op: CheckedOp, operands: readonly Span[], traits: DeviceTraits): OpPlan {
  const recorder = new OpRecorder(traits, operands);
  planCall(op, recorder);
  const { steps, scratchBytes: scratch, picks } = recorder;
  return { id: ++lastId, steps, scratch, picks };
}

/** The operands of a call that has some, in the order of `call.operands`. Those without elements have no memory. */
export function operandsOf(call: CheckedOp['call']): Span[] {
  const spans: Span[] = [];
  for (const { name } of call.operands) {
    const span = (call as unknown as Readonly<Record<string, Span | undefined>>)[name];
    if (span !== undefined) spans.push(span);
  }
  return spans;
}

/** The same call with operands in allocations of their own that are not there: for planning, not for running. */
export function withFakeOperands({ hook, call }: CheckedOp): CheckedOp {
  const elementBytes = call.dtype === 'f16' ? 2 : 4;
  const operands: Record<string, Span> = {};
  for (const { name, elements } of call.operands) {
    if (elements > 0) operands[name] = fakeSpan(elements * elementBytes);
  }
  return { hook, call: { ...call, ...operands } } as CheckedOp;
}

/** The memory at a place. */
export function spanAt(memory: readonly Span[], { memory: index, byteOffset, byteLength }: Place): Span {
  const { buffer, byteOffset: start } = memory[index] as Span;
  return { buffer, byteOffset: start + byteOffset, byteLength };
}

/** Notes what a plan launches and copies. */
class OpRecorder implements Recorder {
  readonly traits: DeviceTraits;
  readonly steps: Step[] = [];
  readonly scratchBytes: number[] = [];
  readonly picks: VariantPick[] = [];
  /** The operands, then the scratch memory. */
  readonly #memory: Span[];

  constructor(traits: DeviceTraits, operands: readonly Span[]) {
    this.traits = traits;
    this.#memory = [...operands];
  }

  notePick(pick: VariantPick): void {
    this.picks.push(pick);
  }

  launch(launch: Launch): void {
    for (const { spans, ...dispatch } of dispatchesOf(launch, this.traits.maxWorkgroupsPerDimension)) {
      this.steps.push({ ...dispatch, places: spans.map((span) => this.#placeOf(span)) });
    }
  }

  copy(dst: Span, src: Span): void {
    this.steps.push({ dst: this.#placeOf(dst), src: this.#placeOf(src) });
  }

  scratch(bytes: number): Span {
    const { maxBufferBytes } = this.traits;
    if (bytes > maxBufferBytes) {
      throw new BackendError('OUT_OF_MEMORY', `${bytes} bytes exceed the largest buffer, ${maxBufferBytes}`, {
        requestedBytes: bytes,
        limitBytes: maxBufferBytes,
      });
    }
    const span = fakeSpan(bytes);
    this.#memory.push(span);
    this.scratchBytes.push(bytes);
    return span;
  }

  #placeOf({ buffer, byteOffset, byteLength }: Span): Place {
    const memory = this.#memory.findIndex((span) => span.buffer === buffer);
    return { memory, byteOffset: byteOffset - (this.#memory[memory] as Span).byteOffset, byteLength };
  }
}

/** Plans pass buffers on and never look into them. */
const NO_BUFFER = Object.freeze({}) as GPUBuffer;

/** A span that stands for an allocation of its own. */
function fakeSpan(byteLength: number): Span {
  const buffer: StorageBuffer = { id: ++lastId, gpu: NO_BUFFER, size: Math.ceil(byteLength / 4) * 4 };
  return { buffer, byteOffset: 0, byteLength };
}

import type { Operand, ResolvedCall } from '@concord/backend-core/implement';
import {
  explainPasses,
  type LaunchPlan as AnyPlan,
  type Place,
  planCall,
  type Planning,
  StepRecorder,
} from '@concord/variants';
import { type Dispatch, dispatchesOf } from './dispatch.ts';
import { FAMILIES } from './families.ts';
import type { Kernel } from './kernel.ts';
import type { DeviceTraits, Launch, Recorder, Span, StorageBuffer } from './recorder.ts';
import type { Explanation } from '@concord/backend-core';

/** The dispatches and copies of an op: for one call, and for every other whose operands lie as those of that one do. */
export interface LaunchPlan extends AnyPlan<Kernel, PlannedDispatch> {
  /** Unique in this process. */
  readonly id: number;
  /** The operands that are written. */
  readonly written: readonly number[];
  /** The memory that all of its bindings may be elsewhere in. */
  readonly moving: ReadonlySet<number>;
  /** Which of the parameters of a call are floats. */
  readonly floats: readonly boolean[];
}

/** A dispatch or a copy whose memory is told by {@link Place}s. */
export type Step = LaunchPlan['steps'][number];

/** A dispatch of a plan. */
export interface PlannedDispatch extends Omit<Dispatch, 'spans'> {
  /** The bound buffers, in the kernel's order. */
  readonly places: readonly Place[];
  /** Its words as the last call had them: calls of many layers follow each other with the same. */
  lastWords: Uint32Array;
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
  planCall(FAMILIES, op, recorder);
  const { steps, scratchBytes: scratch, picks } = recorder;
  const written = [...recorder.written].filter((index) => index < operands.length);
  return { id: ++lastId, steps, written, moving: movingMemory(steps), floats: floatsOf(op), scratch, picks };
}

function floatsOf({ kernel, call }: ResolvedCall<StorageBuffer>): readonly boolean[] {
  if (kernel === 'run') return call.geometry.kernel.params.map(({ type }) => type === 'f32');
  if (kernel !== 'gemm' && kernel !== 'conv2dForward') return [];
  return call.epilogue?.kernel.params.map(({ type }) => type === 'f32') ?? [];
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
class OpRecorder extends StepRecorder<StorageBuffer, PlannedDispatch> implements Recorder {
  readonly traits: DeviceTraits;
  /** Which memory is written. */
  readonly written: Set<number> = new Set();

  constructor(traits: DeviceTraits, operands: readonly Span[]) {
    super(operands, fakeSpan);
    this.traits = traits;
  }

  protected get maxBytes(): number {
    return this.traits.maxBufferBytes;
  }

  launch(launch: Launch): void {
    for (const { spans, ...dispatch } of dispatchesOf(launch, this.traits.maxWorkgroupsPerDimension)) {
      const places = spans.map((span) => this.placeOf(span));
      for (const [index, { access }] of dispatch.kernel.storage.entries()) {
        if (access === 'read_write') this.written.add((places[index] as Place).memory);
      }
      this.add({ ...dispatch, places, lastWords: dispatch.words });
    }
  }

  override copy(dst: Span, src: Span): void {
    this.written.add(this.placeOf(dst).memory);
    super.copy(dst, src);
  }
}

/** A span that stands for a separate allocation. */
export function fakeSpan(byteLength: number): Operand<StorageBuffer> {
  const size = Math.ceil(byteLength / 4) * 4;
  const buffer: StorageBuffer = { id: ++lastId, size, label: 'planned', home: undefined };
  return { buffer, byteOffset: 0, byteLength };
}

/** Plans of this backend; no binding wants another alignment than this. */
export const PLANNING: Planning<StorageBuffer, LaunchPlan, Recorder, Kernel> = {
  families: FAMILIES,
  alignment: 256,
  plan: planOp,
  fakeOperand: fakeSpan,
};

/** A plan as people read it. */
export function explainPlan(plan: LaunchPlan): Explanation {
  return explainPasses<Kernel, PlannedDispatch>(plan, (launches) => {
    const { kernel, variant, grid } = launches.at(-1) as PlannedDispatch;
    const groups = `${grid.join(' x ')} workgroups`;
    return {
      variant: variant ?? kernel.name,
      summary: `${kernel.name}, ${launches.length === 1 ? groups : `${launches.length} launches, the last of ${groups}`}`,
      language: 'wgsl',
      code: kernel.code,
    };
  });
}

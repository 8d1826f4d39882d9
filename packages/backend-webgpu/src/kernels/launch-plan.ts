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
import { softcapInverse } from './attention/geometry.ts';
import { type Kernel, wordOf } from './kernel.ts';
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
  /** True for each parameter of a kernel that is a float. */
  readonly floats: readonly boolean[];
  /** The number of scalars, which come after those. */
  readonly scalarCount: number;
}

/** A dispatch or a copy whose memory is told by {@link Place}s. */
export type Step = LaunchPlan['steps'][number];

/** The values of a step's last call. Calls of many layers follow each other with the same. */
export interface LastCall {
  lastParams: readonly number[] | undefined;
  readonly lastWords: Uint32Array;
  /** The batch that has them, and where; 0: none. */
  lastBatch: number;
  lastOffset: number;
}

/** A dispatch of a plan. */
export interface PlannedDispatch extends Omit<Dispatch, 'spans'>, LastCall {
  /** The bound buffers, in the kernel's order. */
  readonly places: readonly Place[];
  /** Words that are scalars of the call. */
  readonly scalars: readonly ScalarWord[];
}

/** A float32 among the words of a dispatch. */
interface ScalarWord {
  readonly word: number;
  /** The number of the parameter, from their end. */
  readonly at: number;
  /** The function of it that the kernel gets. */
  readonly of?: ((value: number) => number) | undefined;
}

/** Uniforms that are made of a scalar. */
const DERIVED: Readonly<Record<string, { readonly from: string; readonly of: (value: number) => number }>> = {
  softcap_inverse: { from: 'softcap', of: softcapInverse },
};

let lastId = 0;

/**
 * Plans a call.
 *
 * @param operands - those of the call, in their order
 *
 * @throws {BackendError} UNSUPPORTED when the device cannot run it, OUT_OF_MEMORY when its scratch memory is too large
 */
export function planOp(op: ResolvedCall<StorageBuffer>, operands: readonly Span[], traits: DeviceTraits): LaunchPlan {
  const recorder = new OpRecorder(op, traits, operands);
  planCall(FAMILIES, op, recorder);
  const { steps, scratchBytes: scratch, picks } = recorder;
  const written = [...recorder.written].filter((index) => index < operands.length);
  const { scalarCount } = recorder;
  const own = { moving: movingMemory(steps), floats: floatsOf(op), scalarCount };
  return { id: ++lastId, steps, written, ...own, scratch, picks };
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
  /** The memory that is written. */
  readonly written: Set<number> = new Set();

  constructor(op: ResolvedCall<StorageBuffer>, traits: DeviceTraits, operands: readonly Span[]) {
    super(op, operands, fakeSpan);
    this.traits = traits;
  }

  protected get maxBytes(): number {
    return this.traits.maxBufferBytes;
  }

  launch(launch: Launch): void {
    const scalars = this.#scalarWords(launch);
    for (const { spans, ...dispatch } of dispatchesOf(launch, this.traits.maxWorkgroupsPerDimension)) {
      const places = spans.map((span) => this.placeOf(span));
      for (const [index, { access }] of dispatch.kernel.storage.entries()) {
        if (access === 'read_write') this.written.add((places[index] as Place).memory);
      }
      const last = { lastParams: undefined, lastWords: dispatch.words.slice(), lastBatch: 0, lastOffset: 0 };
      this.add({ ...dispatch, places, scalars, ...last });
    }
  }

  #scalarWords({ kernel, uniforms }: Launch): ScalarWord[] {
    return kernel.uniforms.flatMap(({ name }): ScalarWord[] => {
      const { from = name, of } = DERIVED[name] ?? {};
      const at = this.scalarAt(from, uniforms[from]);
      return at === undefined ? [] : [{ word: wordOf(kernel, name), at, of }];
    });
  }

  override copy(dst: Span, src: Span): void {
    this.written.add(this.placeOf(dst).memory);
    super.copy(dst, src);
  }
}

/** A span that stands for a separate allocation. */
export function fakeSpan(byteLength: number): Operand<StorageBuffer> {
  const size = Math.ceil(byteLength / 4) * 4;
  const buffer: StorageBuffer = { id: ++lastId, size, label: 'planned', backing: undefined };
  return { buffer, byteOffset: 0, byteLength };
}

/** Plans of this backend; no binding wants another alignment than this. */
export const PLANNING: Planning<StorageBuffer, LaunchPlan, Recorder, Kernel> = {
  families: FAMILIES,
  alignment: 256,
  plan: planOp,
  fakeOperand: fakeSpan,
};

/** A plan as people read it, with the code as the device compiles it. */
export function explainPlan(plan: LaunchPlan, codeOf = ({ code }: Kernel): string => code): Explanation {
  return explainPasses<Kernel, PlannedDispatch>(plan, (launches) => {
    const { kernel, variant, grid } = launches.at(-1) as PlannedDispatch;
    const groups = `${grid.join(' x ')} workgroups`;
    return {
      variant: variant ?? kernel.name,
      summary: `${kernel.name}, ${launches.length === 1 ? groups : `${launches.length} launches, the last of ${groups}`}`,
      language: 'wgsl',
      code: codeOf(kernel),
    };
  });
}

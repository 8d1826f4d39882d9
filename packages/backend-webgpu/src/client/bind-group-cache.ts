import { type Place, spanAt } from '@concord/variants';
import { ListMap } from '@concord/backend-core/implement';
import type { Moving } from '../kernels/dispatch.ts';
import type { LaunchPlan, PlannedDispatch } from '../kernels/launch-plan.ts';
import type { Backing, Span } from '../kernels/recorder.ts';
import { inScopes, type Scoped } from './errors.ts';
import type { GpuContext } from './gpu-source.ts';
import type { BindingLayout } from './pipeline-cache.ts';
import { MAX_UNIFORM_BYTES, type ReadyDispatch, type UniformRing } from './batch.ts';

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

/**
 * The words of a dispatch with the parameters of a call, and its operands where they are: to be copied before the next call.
 *
 * @param maxBindingBytes - memory of more is not bound whole
 */
export function callWords(
  { floats, scalarCount }: LaunchPlan,
  step: PlannedDispatch,
  params: readonly number[],
  memory: readonly Span[],
  maxBindingBytes: number,
): Uint32Array {
  const { kernel, moving, scalars, lastWords: words } = step;
  if (params === step.lastParams && moving.length === 0) return words;
  if (kernel.paramsAt !== undefined) {
    const count = params.length - scalarCount;
    for (let index = 0; index < count; index++) {
      setWord(step, kernel.paramsAt + index, wordOf(params[index] as number, floats[index] === true));
    }
  }
  for (let index = 0; index < scalars.length; index++) {
    const { word: at, at: from, of } = scalars[index] as PlannedDispatch['scalars'][number];
    const value = params[params.length + from] as number;
    setWord(step, at, wordOf(of === undefined ? value : of(value), true));
  }
  for (let which = 0; which < moving.length; which++) {
    const { index, word: at, bytes } = moving[which] as Moving;
    const { memory: from, byteOffset } = step.places[index] as Place;
    const operand = memory[from] as Span;
    const start = isBoundWhole(operand, maxBindingBytes) ? (operand.byteOffset + byteOffset) / bytes : 0;
    setWord(step, at, (step.words[at] as number) + start);
  }
  step.lastParams = params;
  return words;
}

function setWord(step: PlannedDispatch, at: number, value: number): void {
  if (step.lastWords[at] === value) return;
  step.lastWords[at] = value;
  step.lastBatch = 0;
}

/** The word that the device reads as a parameter. */
function wordOf(value: number, isFloat: boolean): number {
  if (!isFloat) return value >>> 0;
  float[0] = value;
  return word[0] as number;
}

/** Returns whether a binding that may move is bound from the beginning of its memory to the end. */
function isBoundWhole({ buffer }: Span, maxBindingBytes: number): boolean {
  return buffer.size <= maxBindingBytes;
}

/** The buffers that a dispatch of a plan binds. */
export function spansOf({ places, moving }: PlannedDispatch, memory: readonly Span[], maxBindingBytes: number): Span[] {
  const spans = places.map((place) => withinBuffer(spanAt(memory, place)));
  for (const { index } of moving) {
    const { buffer } = spans[index] as Span;
    if (!isBoundWhole(spans[index] as Span, maxBindingBytes)) continue;
    spans[index] = { buffer, byteOffset: 0, byteLength: buffer.size };
  }
  return spans;
}

/** Plans may be for some more of an input than there is: what they do not read. */
export function withinBuffer({ buffer, byteOffset, byteLength }: Span): Span {
  return { buffer, byteOffset, byteLength: Math.min(byteLength, buffer.size - byteOffset) };
}

/** Entries keep bind groups of buffers that are gone. */
const MAX_ENTRIES = 1024;

/** Bind groups by layout and by what is bound: programs run the same ops on the same memory again and again. */
export class BindGroupCache {
  readonly #context: GpuContext;
  readonly #uniforms: Pick<UniformRing, 'gpu'>;
  readonly #groups = new ListMap<GPUBindGroup>();
  readonly #ofPlans = new ListMap<(ReadyDispatch | undefined)[]>();
  /** The key that is asked for: one list, so that a launch makes none. */
  readonly #key: number[] = [];

  constructor(context: GpuContext, uniforms: Pick<UniformRing, 'gpu'>) {
    this.#context = context;
    this.#uniforms = uniforms;
  }

  get(
    layout: BindingLayout,
    spans: readonly Span[],
    onCheck: (caught: Scoped<unknown>['caught']) => void,
  ): GPUBindGroup {
    const key = this.#key;
    key.length = 0;
    key.push(layout.id);
    for (const { buffer, byteOffset, byteLength } of spans) {
      const { id, start } = buffer.backing as Backing;
      key.push(id, start + byteOffset, byteLength);
    }
    let group = this.#groups.get(key);
    if (group === undefined) {
      const made = inScopes(this.#context, () => this.#create(layout, spans));
      onCheck(made.caught);
      group = made.value;
      if (this.#groups.size >= MAX_ENTRIES) this.#forget();
      this.#groups.add(key, group);
    }
    return group;
  }

  /** Returns what was made ready of a plan with this memory, which saves asking for each of its steps. */
  ofPlan({ id, moving }: LaunchPlan, memory: readonly Span[], maxBindingBytes: number): (ReadyDispatch | undefined)[] {
    const key = this.#key;
    key.length = 0;
    key.push(id);
    for (let index = 0; index < memory.length; index++) {
      const span = memory[index] as Span;
      const { id: gpu, start } = span.buffer.backing as Backing;
      const isWhole = moving.has(index) && isBoundWhole(span, maxBindingBytes);
      key.push(gpu, isWhole ? start : start + span.byteOffset);
    }
    let ready = this.#ofPlans.get(key);
    if (ready === undefined) {
      ready = [];
      if (this.#ofPlans.size >= MAX_ENTRIES) this.#forget();
      this.#ofPlans.add(key, ready);
    }
    return ready;
  }

  /** Forgets both at once: what plans keep has no bound. */
  #forget(): void {
    this.#groups.clear();
    this.#ofPlans.clear();
  }

  #create(layout: BindingLayout, spans: readonly Span[]): GPUBindGroup {
    return this.#context.device.createBindGroup({
      layout: layout.group,
      entries: [
        ...spans.map(({ buffer, byteOffset, byteLength }, binding) => {
          const { gpu, start } = buffer.backing as Backing;
          return { binding, resource: { buffer: gpu, offset: start + byteOffset, size: byteLength } };
        }),
        { binding: spans.length, resource: { buffer: this.#uniforms.gpu, size: MAX_UNIFORM_BYTES } },
      ],
    });
  }
}

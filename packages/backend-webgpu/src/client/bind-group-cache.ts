import type { LaunchPlan } from '../kernels/launch-plan.ts';
import type { Span } from '../kernels/recorder.ts';
import { ListMap } from '@concord/backend-core/implement';
import { homeOf } from './buffer-pool.ts';
import { isBoundWhole } from './call-words.ts';
import { inScopes, type Scoped } from './error-scopes.ts';
import type { GpuContext } from './gpu-source.ts';
import type { BindingLayout } from './pipeline-cache.ts';
import { MAX_UNIFORM_BYTES, type UniformRing } from './uniform-ring.ts';

/** Entries keep bind groups of buffers that are gone. */
const MAX_ENTRIES = 1024;

/** Bind groups by layout and by what is bound: programs run the same ops on the same memory again and again. */
export class BindGroupCache {
  readonly #context: GpuContext;
  readonly #uniforms: Pick<UniformRing, 'gpu'>;
  readonly #groups = new ListMap<GPUBindGroup>();
  readonly #groupsOfPlans = new ListMap<(GPUBindGroup | undefined)[]>();
  /** Allocations come and go; the buffers behind them are reused. */
  readonly #bufferIds = new WeakMap<GPUBuffer, number>();
  #buffers = 0;
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
      const { gpu, start } = homeOf(buffer);
      key.push(this.#idOf(gpu), start + byteOffset, byteLength);
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

  /** Where a plan keeps the bind groups of its steps with this memory: spares it to ask for each of them. */
  ofPlan({ id, moving }: LaunchPlan, memory: readonly Span[], maxBindingBytes: number): (GPUBindGroup | undefined)[] {
    const key = this.#key;
    key.length = 0;
    key.push(id);
    for (let index = 0; index < memory.length; index++) {
      const span = memory[index] as Span;
      const { gpu, start } = homeOf(span.buffer);
      const isWhole = moving.has(index) && isBoundWhole(span, maxBindingBytes);
      key.push(this.#idOf(gpu), isWhole ? start : start + span.byteOffset);
    }
    let groups = this.#groupsOfPlans.get(key);
    if (groups === undefined) {
      groups = [];
      if (this.#groupsOfPlans.size >= MAX_ENTRIES) this.#forget();
      this.#groupsOfPlans.add(key, groups);
    }
    return groups;
  }

  /** Both at once: what plans keep has no bound. */
  #forget(): void {
    this.#groups.clear();
    this.#groupsOfPlans.clear();
  }

  #idOf(buffer: GPUBuffer): number {
    let id = this.#bufferIds.get(buffer);
    if (id === undefined) {
      id = ++this.#buffers;
      this.#bufferIds.set(buffer, id);
    }
    return id;
  }

  #create(layout: BindingLayout, spans: readonly Span[]): GPUBindGroup {
    return this.#context.device.createBindGroup({
      layout: layout.group,
      entries: [
        ...spans.map(({ buffer, byteOffset, byteLength }, binding) => {
          const { gpu, start } = homeOf(buffer);
          return { binding, resource: { buffer: gpu, offset: start + byteOffset, size: byteLength } };
        }),
        { binding: spans.length, resource: { buffer: this.#uniforms.gpu, size: MAX_UNIFORM_BYTES } },
      ],
    });
  }
}

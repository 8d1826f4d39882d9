import { BackendError } from '@concord/backend-core';
import type { Kernel } from '../kernels/kernel.ts';
import { withPackedHalves } from '../kernels/wgsl/half.wgsl.ts';
import { inScopes, type Scoped } from './errors.ts';
import { type GpuContext, STAGE_COMPUTE } from './gpu-source.ts';
import { MAX_UNIFORM_BYTES } from './batch.ts';

/** A compiled kernel and the layout of its bindings. */
export interface CompiledKernel {
  readonly pipeline: GPUComputePipeline;
  readonly layout: BindingLayout;
}

/** A kernel that can be recorded. */
export interface ReadyKernel extends CompiledKernel {
  /** The compilation under way, while the device has yet to judge the kernel; rejects with a coded error. */
  readonly judging?: Promise<unknown>;
}

/**
 * The layout of a bind group; kernels with bindings of the same accesses and sizes of elements share one, and so can
 * share bind groups. Sizes are in it because without them they are checked at each dispatch, which wgpu gets wrong for
 * pipelines that share a layout and differ in them.
 */
export interface BindingLayout {
  readonly id: number;
  readonly group: GPUBindGroupLayout;
  readonly pipeline: GPUPipelineLayout;
}

interface Entry {
  /** Set once the pipeline exists, even if the device has yet to judge it. */
  compiled?: ReadyKernel;
  /** Why the device has refused the kernel. */
  refusal?: BackendError;
  ready: Promise<CompiledKernel>;
}

/**
 * Pipelines in each of two generations: one-off kernels do not evict hot ones. A pipeline is a megabyte where shaders run on
 * the CPU.
 */
const MAX_PIPELINES = 128;

type PipelineEntry = Entry & { compiled: ReadyKernel };

/**
 * The pipelines of one device, by source. Explicit layouts, because with `layout: 'auto'` the same source compiles anew
 * each time. A kernel that the device refuses stays refused for ops, until `compile` tries it again.
 */
export class PipelineCache {
  readonly #context: GpuContext;
  #byKernel = new WeakMap<Kernel, Entry>();
  /** Pipelines by source: the young generation, and the one before it. */
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  readonly #layouts = new Map<string, BindingLayout>();
  #layoutCount = 0;
  /** The device packs halves as they should be, as a trial has shown. */
  packsHalves = false;

  constructor(context: GpuContext) {
    this.#context = context;
  }

  /** Number of pipelines that are compiled, being compiled or refused. */
  get size(): number {
    return new Set([...this.#young.values(), ...this.#old.values()]).size;
  }

  /**
   * Compiles a kernel without blocking. Requests for the same source share one compilation.
   *
   * @throws {BackendError} DEVICE_ERROR with line and column when the source does not compile
   */
  compile(kernel: Kernel): Promise<CompiledKernel> {
    const key = sourceKey(kernel);
    const known = this.#find(key);
    if (known !== undefined && known.refusal === undefined) return known.ready;
    const entry: Entry = { ready: this.#compileInBackground(kernel, this.#module(kernel)) };
    this.#remember(key, entry);
    return entry.ready;
  }

  /**
   * The pipeline at once, for an op that is being recorded; the first request for a kernel compiles it meanwhile.
   *
   * @throws {BackendError} DEVICE_ERROR when the device has refused the kernel before
   */
  now(kernel: Kernel): ReadyKernel {
    const quick = this.#byKernel.get(kernel)?.compiled;
    if (quick !== undefined) return quick;
    const key = sourceKey(kernel);
    const known = this.#find(key);
    // A separate one for each op: it bears the op's name.
    if (known?.refusal !== undefined)
      throw new BackendError('DEVICE_ERROR', known.refusal.detail, { cause: known.refusal });
    const entry = known?.compiled === undefined ? this.#compileAtOnce(kernel, key) : (known as PipelineEntry);
    this.#byKernel.set(kernel, entry);
    return entry.compiled;
  }

  #compileAtOnce(kernel: Kernel, key: string): PipelineEntry {
    const { value, caught } = this.#module(kernel);
    const { module, layout } = value;
    const creation = inScopes(this.#context, () =>
      this.#context.device.createComputePipeline(pipelineDescriptor(kernel, layout, module)),
    );
    const compiled: CompiledKernel = { pipeline: creation.value, layout };
    const judge = async (): Promise<CompiledKernel> => {
      const error = (await caught) ?? (await creation.caught);
      if (error !== undefined) throw await this.#shaderError(kernel, module, error.error);
      return compiled;
    };
    const judging = judge();
    const entry = { compiled: { ...compiled, judging }, ready: judging };
    this.#remember(key, entry);
    return entry;
  }

  async #compileInBackground(
    kernel: Kernel,
    { value: { module, layout }, caught }: Scoped<{ module: GPUShaderModule; layout: BindingLayout }>,
  ): Promise<CompiledKernel> {
    const error = await caught;
    if (error !== undefined) throw await this.#shaderError(kernel, module, error.error);
    try {
      const pipeline = await this.#context.awaiting(() =>
        this.#context.device.createComputePipelineAsync(pipelineDescriptor(kernel, layout, module)),
      );
      return { pipeline, layout };
    } catch (cause) {
      throw await this.#shaderError(kernel, module, cause as Error);
    }
  }

  #remember(key: string, entry: Entry): void {
    this.#add(key, entry);
    entry.ready.then(
      (compiled) => {
        entry.compiled = compiled;
      },
      (refusal: BackendError) => {
        delete entry.compiled;
        entry.refusal = refusal;
      },
    );
  }

  #find(key: string): Entry | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.#add(key, old);
    return old;
  }

  #add(key: string, entry: Entry): void {
    if (this.#young.size >= MAX_PIPELINES) {
      this.#old = this.#young;
      this.#young = new Map();
      // Live pipelines are promoted again on the next lookup.
      this.#byKernel = new WeakMap();
    }
    this.#young.set(key, entry);
  }

  /** The code of a kernel as it is compiled. */
  codeOf({ code }: Kernel): string {
    return this.packsHalves ? withPackedHalves(code) : code;
  }

  /** The module and the layout, whose errors are the kernel's. */
  #module(kernel: Kernel): Scoped<{ module: GPUShaderModule; layout: BindingLayout }> {
    const { device } = this.#context;
    const key = kernel.storage.map(({ access, minBytes = 0 }) => `${access} ${minBytes}`).join();
    const scoped = inScopes(this.#context, () => ({
      module: device.createShaderModule({ code: this.codeOf(kernel), label: kernel.name }),
      layout: this.#layout(kernel, key),
    }));
    // Perhaps the layout is what the device refused.
    void scoped.caught.then((error) => error !== undefined && this.#layouts.delete(key));
    return scoped;
  }

  async #shaderError(kernel: Kernel, module: GPUShaderModule, cause: { message: string }): Promise<BackendError> {
    const info = await this.#context.awaiting(() => module.getCompilationInfo()).catch(() => undefined);
    const messages = (info?.messages ?? [])
      .filter(({ type }) => type === 'error')
      .map(({ lineNum, linePos, message }) => `line ${lineNum}, column ${linePos}: ${message}`);
    const detail = messages.length > 0 ? messages.join('; ') : cause.message.trim();
    return new BackendError('DEVICE_ERROR', `kernel ${kernel.name} does not compile: ${detail}`, { cause });
  }

  #layout(kernel: Kernel, key: string): BindingLayout {
    let layout = this.#layouts.get(key);
    if (layout === undefined) {
      const group = this.#context.device.createBindGroupLayout({
        entries: [
          ...kernel.storage.map(({ access, minBytes = 0 }, binding) => ({
            binding,
            visibility: STAGE_COMPUTE,
            buffer: {
              type: access === 'read' ? ('read-only-storage' as const) : ('storage' as const),
              minBindingSize: minBytes,
            },
          })),
          {
            binding: kernel.storage.length,
            visibility: STAGE_COMPUTE,
            buffer: { hasDynamicOffset: true, minBindingSize: MAX_UNIFORM_BYTES },
          },
        ],
      });
      const pipeline = this.#context.device.createPipelineLayout({ bindGroupLayouts: [group] });
      layout = { id: ++this.#layoutCount, group, pipeline };
      this.#layouts.set(key, layout);
    }
    return layout;
  }
}

function sourceKey(kernel: Kernel): string {
  return kernel.code;
}

function pipelineDescriptor(
  kernel: Kernel,
  layout: BindingLayout,
  module: GPUShaderModule,
): GPUComputePipelineDescriptor {
  return { label: kernel.name, layout: layout.pipeline, compute: { module, entryPoint: 'main' } };
}

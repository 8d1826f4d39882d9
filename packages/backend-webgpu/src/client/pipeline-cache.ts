import { BackendError } from '@concord/backend-core';
import type { Kernel } from '../kernels/kernel.ts';
import { inScopes, type Scoped } from './error-scopes.ts';
import type { GpuContext } from './gpu-source.ts';
import { STAGE_COMPUTE } from './gpu-constants.ts';

/** A compiled kernel and the layout of its bindings. */
export interface CompiledKernel {
  readonly pipeline: GPUComputePipeline;
  readonly layout: BindingLayout;
}

/** The layout of a bind group; kernels with the same accesses share one, and so can share bind groups. */
export interface BindingLayout {
  readonly id: number;
  readonly group: GPUBindGroupLayout;
  readonly pipeline: GPUPipelineLayout;
}

interface Entry {
  /** Set once the pipeline exists, even if the device has yet to judge it. */
  compiled?: CompiledKernel;
  isJudged: boolean;
  ready: Promise<CompiledKernel>;
}

/**
 * The pipelines of one device, by source. Explicit layouts, because with `layout: 'auto'` the same source compiles anew
 * each time. A kernel that fails to compile is forgotten, so that the next request tries again.
 */
export class PipelineCache {
  readonly #context: GpuContext;
  readonly #byKernel = new WeakMap<Kernel, Entry>();
  readonly #bySource = new Map<string, Entry>();
  readonly #layouts = new Map<string, BindingLayout>();
  #layoutCount = 0;

  constructor(context: GpuContext) {
    this.#context = context;
  }

  /** Number of pipelines that are compiled or being compiled. */
  get size(): number {
    return this.#bySource.size;
  }

  /**
   * Compiles a kernel without blocking. Requests for the same source share one compilation.
   *
   * @throws {BackendError} DEVICE_ERROR with line and column when the source does not compile
   */
  compile(kernel: Kernel): Promise<CompiledKernel> {
    const key = sourceKey(kernel);
    const known = this.#bySource.get(key);
    if (known !== undefined) return known.ready;
    const entry: Entry = { isJudged: false, ready: this.#compileInBackground(kernel, this.#module(kernel)) };
    this.#remember(key, entry);
    return entry.ready;
  }

  /**
   * The pipeline at once, for an op that is being recorded; the first request for a kernel compiles it meanwhile.
   *
   * @param onCompile - gets the compilation under way, which rejects with a coded error if the device refuses the kernel
   */
  now(kernel: Kernel, onCompile: (compilation: Promise<unknown>) => void): CompiledKernel {
    const entry = this.#entryNow(kernel);
    if (!entry.isJudged) onCompile(entry.ready);
    return entry.compiled;
  }

  #entryNow(kernel: Kernel): Entry & { compiled: CompiledKernel } {
    const quick = this.#byKernel.get(kernel);
    if (quick !== undefined && isUsable(quick)) return quick;
    const key = sourceKey(kernel);
    const known = this.#bySource.get(key);
    const entry = known !== undefined && isUsable(known) ? known : this.#compileAtOnce(kernel, key);
    this.#byKernel.set(kernel, entry);
    return entry;
  }

  #compileAtOnce(kernel: Kernel, key: string): Entry & { compiled: CompiledKernel } {
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
    const entry = { compiled, isJudged: false, ready: judge() };
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
    this.#bySource.set(key, entry);
    entry.ready.then(
      (compiled) => {
        entry.compiled = compiled;
        entry.isJudged = true;
      },
      () => {
        delete entry.compiled;
        if (this.#bySource.get(key) === entry) this.#bySource.delete(key);
      },
    );
  }

  /** The module and the layout, whose errors are the kernel's. */
  #module(kernel: Kernel): Scoped<{ module: GPUShaderModule; layout: BindingLayout }> {
    const { device } = this.#context;
    const key = kernel.storage.map(({ access }) => access).join();
    const scoped = inScopes(this.#context, () => ({
      module: device.createShaderModule({ code: kernel.code, label: kernel.name }),
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
          ...kernel.storage.map(({ access }, binding) => ({
            binding,
            visibility: STAGE_COMPUTE,
            buffer: { type: access === 'read' ? ('read-only-storage' as const) : ('storage' as const) },
          })),
          { binding: kernel.storage.length, visibility: STAGE_COMPUTE, buffer: { hasDynamicOffset: true } },
        ],
      });
      const pipeline = this.#context.device.createPipelineLayout({ bindGroupLayouts: [group] });
      layout = { id: ++this.#layoutCount, group, pipeline };
      this.#layouts.set(key, layout);
    }
    return layout;
  }
}

function isUsable(entry: Entry): entry is Entry & { compiled: CompiledKernel } {
  return entry.compiled !== undefined;
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

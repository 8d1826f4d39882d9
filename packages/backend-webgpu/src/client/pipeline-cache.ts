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
  ready: Promise<CompiledKernel>;
}

/**
 * The pipelines of one device, by source. Explicit layouts, because with `layout: 'auto'` the same source compiles anew
 * each time. A kernel that fails to compile is forgotten, so that the next request tries again.
 */
export class PipelineCache {
  readonly #context: GpuContext;
  readonly #byKernel = new WeakMap<Kernel, CompiledKernel>();
  readonly #bySource = new Map<string, Entry>();
  readonly #layouts = new Map<string, BindingLayout>();

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
    const layout = this.#layout(kernel);
    const made = this.#module(kernel);
    const entry: Entry = { ready: this.#compileInBackground(kernel, layout, made) };
    this.#remember(key, entry);
    return entry.ready;
  }

  /**
   * The pipeline at once, for an op that is being recorded; the first request for a kernel compiles it meanwhile.
   *
   * @param onCompile - gets the compilation under way, which rejects with a coded error if the device refuses the kernel
   */
  now(kernel: Kernel, onCompile: (compilation: Promise<unknown>) => void): CompiledKernel {
    const quick = this.#byKernel.get(kernel);
    if (quick !== undefined) return quick;
    const key = sourceKey(kernel);
    const known = this.#bySource.get(key)?.compiled;
    const compiled = known ?? this.#compileAtOnce(kernel, key, onCompile);
    this.#byKernel.set(kernel, compiled);
    return compiled;
  }

  #compileAtOnce(kernel: Kernel, key: string, onCompile: (compilation: Promise<unknown>) => void): CompiledKernel {
    const layout = this.#layout(kernel);
    const { value: module, caught } = this.#module(kernel);
    const creation = inScopes(this.#context, () =>
      this.#context.device.createComputePipeline(pipelineDescriptor(kernel, layout, module)),
    );
    const compiled: CompiledKernel = { pipeline: creation.value, layout };
    const judge = async (): Promise<CompiledKernel> => {
      const error = (await caught) ?? (await creation.caught);
      if (error !== undefined) throw await this.#shaderError(kernel, module, error.error);
      return compiled;
    };
    const entry: Entry = { compiled, ready: judge() };
    this.#remember(key, entry);
    entry.ready.catch(() => this.#byKernel.delete(kernel));
    onCompile(entry.ready);
    return compiled;
  }

  async #compileInBackground(
    kernel: Kernel,
    layout: BindingLayout,
    { value: module, caught }: Scoped<GPUShaderModule>,
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
      },
      () => {
        if (this.#bySource.get(key) === entry) this.#bySource.delete(key);
      },
    );
  }

  #module(kernel: Kernel): Scoped<GPUShaderModule> {
    return inScopes(this.#context, () =>
      this.#context.device.createShaderModule({ code: kernel.code, label: kernel.name }),
    );
  }

  async #shaderError(kernel: Kernel, module: GPUShaderModule, cause: { message: string }): Promise<BackendError> {
    const info = await this.#context.awaiting(() => module.getCompilationInfo()).catch(() => undefined);
    const messages = (info?.messages ?? [])
      .filter(({ type }) => type === 'error')
      .map(({ lineNum, linePos, message }) => `line ${lineNum}, column ${linePos}: ${message}`);
    const detail = messages.length > 0 ? messages.join('; ') : cause.message.trim();
    return new BackendError('DEVICE_ERROR', `kernel ${kernel.name} does not compile: ${detail}`, { cause });
  }

  #layout(kernel: Kernel): BindingLayout {
    const key = kernel.storage.map(({ access }) => access).join();
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
      layout = { id: this.#layouts.size, group, pipeline };
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

import { createHash } from 'node:crypto';
import { isBackendError } from '@concord/backend-core';
import type { Kernel } from '../kernels/kernel.ts';
import type { BinaryCache } from './binary-cache.ts';
import { buildModule, buildModuleAsync, type BuiltModule, type ModuleSource, nativeBinary } from './build-module.ts';
import { LoadedKernel, LoadedModule } from './loaded-module.ts';
import type { OpenDevice } from './open-device.ts';

/** The output of the driver's compiler for a module. */
export interface BuildLog {
  /** The kernel or module that it is about. */
  readonly name: string;
  readonly log: string;
}

/** Logs that are kept. */
const MAX_LOGS = 100;

/** A build option for kernels that reach beyond 4 GiB of a buffer: others may count bytes in 32 bits. */
const LARGE_BUFFERS = '-ze-opt-greater-than-4GB-buffer-required';

/**
 * Modules by their source (words, constants and flags) and the backend's kernels in them. Each is built once, and loaded from
 * the binaries of former processes where there are some.
 */
export class ModuleCache {
  readonly #device: OpenDevice;
  readonly #modules = new Map<string, LoadedModule>();
  readonly #kernels = new Map<Kernel, LoadedKernel>();
  /** Kernels for buffers beyond 4 GiB. */
  readonly #largeKernels = new Map<Kernel, LoadedKernel>();
  readonly #binaries: BinaryCache | undefined;
  readonly #building = new Map<string, Promise<LoadedModule>>();
  readonly #logs: BuildLog[] = [];

  constructor(device: OpenDevice, binaries?: BinaryCache) {
    this.#device = device;
    this.#binaries = binaries;
  }

  /** The outputs of compilers so far, also where a build succeeded. */
  get logs(): readonly BuildLog[] {
    return [...this.#logs];
  }

  /** Number of modules that are loaded. */
  get size(): number {
    return this.#modules.size;
  }

  /**
   * A kernel, built on this thread if it has not been.
   *
   * @param hasLargeBuffers - whether some memory that it gets is beyond 4 GiB
   * @throws {BackendError} DEVICE_ERROR with the build log; OUT_OF_MEMORY; DEVICE_LOST
   */
  kernel(kernel: Kernel, hasLargeBuffers = false): LoadedKernel {
    const kernels = this.#kernelsFor(hasLargeBuffers);
    return kernels.get(kernel) ?? this.#keep(kernel, this.module(sourceOf(kernel, hasLargeBuffers)), kernels);
  }

  /** A module, built on this thread if it has not been. */
  module(source: ModuleSource): LoadedModule {
    const key = keyOf(source);
    return this.#modules.get(key) ?? this.#add(key, source, this.#load(key, source) ?? this.#compile(key, source));
  }

  /** Does what {@link kernel} does, but builds on another thread; requests for the same source share one build. */
  async compile(kernel: Kernel, hasLargeBuffers = false): Promise<LoadedKernel> {
    const source = sourceOf(kernel, hasLargeBuffers);
    const key = keyOf(source);
    let module = this.#modules.get(key) ?? this.#building.get(key);
    if (module === undefined) {
      const building = this.#build(key, source);
      module = building;
      this.#building.set(key, building);
      const forget = (): boolean => this.#building.delete(key);
      building.then(forget, forget);
    }
    const loaded = await module;
    const kernels = this.#kernelsFor(hasLargeBuffers);
    return kernels.get(kernel) ?? this.#keep(kernel, loaded, kernels);
  }

  /** The binary of a kernel that was built; undefined where the driver does not give it away. */
  nativeBinary(kernel: Kernel): Uint8Array | undefined {
    return this.#modules.get(keyOf(sourceOf(kernel)))?.nativeBinary();
  }

  /** Resolves when no build is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#building.values());
  }

  /** Frees everything. No work that uses it may be in flight. */
  destroy(): void {
    for (const module of this.#modules.values()) module.destroy();
    this.#modules.clear();
    this.#kernels.clear();
    this.#largeKernels.clear();
  }

  #kernelsFor(hasLargeBuffers: boolean): Map<Kernel, LoadedKernel> {
    return hasLargeBuffers ? this.#largeKernels : this.#kernels;
  }

  /** Loads the binary of a former process, which the driver may not take. */
  #load(key: string, source: ModuleSource): BuiltModule | undefined {
    const kept = this.#binaries?.find(key);
    if (kept === undefined) return undefined;
    try {
      const { module } = buildModule(this.#device, { source, native: kept.binary });
      return { module, log: kept.log };
    } catch (error) {
      if (!isBackendError(error, 'DEVICE_ERROR')) throw error;
      this.#binaries?.refuse(key, error.detail);
      return undefined;
    }
  }

  #compile(key: string, source: ModuleSource): BuiltModule {
    return this.#remember(key, buildModule(this.#device, { source }));
  }

  #remember(key: string, built: BuiltModule): BuiltModule {
    if (this.#binaries === undefined) return built;
    const binary = nativeBinary(this.#device, built.module);
    if (binary !== undefined) this.#binaries.keep(key, { binary, log: built.log });
    return built;
  }

  async #build(key: string, source: ModuleSource): Promise<LoadedModule> {
    const built = this.#load(key, source) ?? this.#remember(key, await buildModuleAsync(this.#device, { source }));
    const loaded = this.#modules.get(key);
    if (loaded === undefined) return this.#add(key, source, built);
    // A launch could not wait and built it meanwhile.
    new LoadedModule(this.#device, source.name, built).destroy();
    return loaded;
  }

  #add(key: string, { name }: ModuleSource, built: BuiltModule): LoadedModule {
    const module = new LoadedModule(this.#device, name, built);
    this.#modules.set(key, module);
    if (module.log !== '') {
      this.#logs.push({ name, log: module.log });
      if (this.#logs.length > MAX_LOGS) this.#logs.shift();
    }
    return module;
  }

  #keep(kernel: Kernel, module: LoadedModule, kernels: Map<Kernel, LoadedKernel>): LoadedKernel {
    const loaded = new LoadedKernel(this.#device, kernel, module.createKernel('main'));
    kernels.set(kernel, loaded);
    return loaded;
  }
}

function sourceOf(kernel: Kernel, hasLargeBuffers = false): ModuleSource {
  const flags = hasLargeBuffers ? `${kernel.flags} ${LARGE_BUFFERS}`.trim() : kernel.flags;
  return { name: `kernel ${kernel.name}`, words: kernel.words(), constants: kernel.constants, flags };
}

function keyOf({ words, constants, flags }: ModuleSource): string {
  const hash = createHash('sha256');
  hash.update(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
  hash.update(JSON.stringify([constants, flags]));
  return hash.digest('hex');
}

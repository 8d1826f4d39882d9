import { createHash } from 'node:crypto';
import type { Kernel } from '../kernels/kernel.ts';
import { buildModule, buildModuleAsync, type BuiltModule, type ModuleSource } from './build-module.ts';
import { LoadedKernel } from './loaded-kernel.ts';
import { LoadedModule } from './loaded-module.ts';
import type { OpenDevice } from './open-device.ts';

/** What the driver's compiler said of a module. */
export interface BuildLog {
  /** The kernel or module that it is about. */
  readonly name: string;
  readonly log: string;
}

/** Logs that are kept. */
const MAX_LOGS = 100;

/** Modules by their source (words, constants and flags) and the backend's kernels in them. Each is built once. */
export class ModuleCache {
  readonly #device: OpenDevice;
  readonly #modules = new Map<string, LoadedModule>();
  readonly #kernels = new Map<Kernel, LoadedKernel>();
  readonly #building = new Map<string, Promise<LoadedModule>>();
  readonly #logs: BuildLog[] = [];

  constructor(device: OpenDevice) {
    this.#device = device;
  }

  /** What compilers said so far, also where a build succeeded. */
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
   * @throws {BackendError} DEVICE_ERROR with the build log; OUT_OF_MEMORY; DEVICE_LOST
   */
  kernel(kernel: Kernel): LoadedKernel {
    const loaded = this.#kernels.get(kernel);
    return loaded ?? this.#keep(kernel, this.module(sourceOf(kernel)));
  }

  /** A module, built on this thread if it has not been. */
  module(source: ModuleSource): LoadedModule {
    const key = keyOf(source);
    return this.#modules.get(key) ?? this.#add(key, source, buildModule(this.#device, source));
  }

  /** As {@link kernel}, but built on another thread; requests for the same source share one build. */
  async compile(kernel: Kernel): Promise<LoadedKernel> {
    const source = sourceOf(kernel);
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
    return this.#kernels.get(kernel) ?? this.#keep(kernel, loaded);
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
  }

  async #build(key: string, source: ModuleSource): Promise<LoadedModule> {
    const built = await buildModuleAsync(this.#device, source);
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

  #keep(kernel: Kernel, module: LoadedModule): LoadedKernel {
    const loaded = new LoadedKernel(this.#device, kernel, module.createKernel('main'));
    this.#kernels.set(kernel, loaded);
    return loaded;
  }
}

function sourceOf(kernel: Kernel): ModuleSource {
  return { name: `kernel ${kernel.name}`, words: kernel.words(), constants: kernel.constants, flags: kernel.flags };
}

function keyOf({ words, constants, flags }: ModuleSource): string {
  const hash = createHash('sha256');
  hash.update(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
  hash.update(JSON.stringify([constants, flags]));
  return hash.digest('hex');
}

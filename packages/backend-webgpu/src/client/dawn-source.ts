import { browserSource } from './browser-source.ts';
import type { GpuFound, GpuMissing, GpuSource } from './gpu-source.ts';
import { MATRIX_UNITS } from './device-traits.ts';

// dawn.node answers promises only while it polls, and it polls by calling `globalThis.setImmediate` again and again: a
// whole core, taken from the very threads that run the shaders of a software device. There is no option for it. So calls
// that start a promise run with a `setImmediate` of ours in place, for as long as the call itself lasts (no other code
// of the process ever sees it), and so does each poll, which schedules the next one.

/** Polls before the first pause: most answers of a real GPU come within them. */
const EAGER_MS = 2;
/** The delay after which an answer may be noticed, as a share of the wait for it. A poll takes some 30 us. */
const LATENESS = 1 / 200;
/** The time after which pauses are timers, which take a millisecond or more. */
const LONG_MS = 100;

type Callback = () => void;
type SetImmediate = (callback: Callback) => unknown;

const realm = globalThis as unknown as { setImmediate: SetImmediate };
let pollingSince = 0;

/** Calls `start` so that Dawn's polling for its promise leaves pauses. */
function awaitingPolitely<T>(start: () => Promise<T>): Promise<T> {
  pollingSince = performance.now();
  return withOwnSetImmediate(start);
}

function withOwnSetImmediate<T>(run: () => T): T {
  const original = realm.setImmediate;
  realm.setImmediate = (poll) => schedule(original, () => withOwnSetImmediate(poll));
  try {
    return run();
  } finally {
    realm.setImmediate = original;
  }
}

function schedule(setImmediate: SetImmediate, poll: Callback): void {
  const waited = performance.now() - pollingSince;
  if (waited >= LONG_MS) {
    setTimeout(poll, 1);
    return;
  }
  if (waited >= EAGER_MS) sleep(waited * LATENESS);
  setImmediate(poll);
}

const neverSet = new Int32Array(new SharedArrayBuffer(4));

/** Pauses for less than a millisecond, as nothing else in JavaScript does. */
function sleep(ms: number): void {
  Atomics.wait(neverSet, 0, 0, ms);
}

// Only Node loads this file: see "imports" in package.json.

/** Options of Dawn, which go to `create()` of the `webgpu` package. */
export interface DawnOptions {
  /** Toggles to switch on, such as `allow_unsafe_apis`. */
  readonly enable?: readonly string[];
  /** Toggles to switch off. */
  readonly disable?: readonly string[];
  /** `vulkan`, `metal`, `d3d12` or `null`, which compiles shaders and runs nothing. Default: what the system has. */
  readonly backend?: string;
  /** Part of an adapter's name. */
  readonly adapter?: string;
  /**
   * True if shaders check the bounds of each access to memory. Default: true. With `false`, the toggle
   * `disable_robustness`, matrix units are faster. The ops check what they are given anyway; a user's shader that
   * reads or writes outside of its buffers then does so.
   */
  readonly robustness?: boolean;
  /**
   * True if products of binary16 run on the GPU's matrix units where Dawn has them, as an experiment still. Default: true.
   * It takes two toggles, `allow_unsafe_apis` and `vulkan_enable_f16_on_nvidia`.
   */
  readonly matrixUnits?: boolean;
}

/** The toggles that make Dawn offer matrix units, and the 16-bit floats they work on, which it hides on NVIDIA GPUs. */
const MATRIX_UNIT_TOGGLES: readonly string[] = ['allow_unsafe_apis', 'vulkan_enable_f16_on_nvidia'];

/** The part of Node's `process` that is used: these sources compile without Node's types. */
declare const process: {
  readonly platform: string;
  readonly arch: string;
  dlopen(module: { exports: object }, file: string): void;
};

/** The part of the `webgpu` package that is used. Its own types clash with TypeScript's lib.dom. */
interface DawnModule {
  readonly create: (options: readonly string[]) => GPU;
}

/**
 * The objects that `create()` gave, by their options. They must stay reachable for the life of the process: Dawn crashes
 * when one is collected.
 */
const instances = new Map<string, GPU>();

/** WebGPU in Node: Dawn, from the optional peer dependency `webgpu`. */
export function dawnSource(options: DawnOptions = {}): GpuSource {
  const flags = dawnFlags(options);
  const key = ['dawn', ...flags, ...(options.matrixUnits === false ? ['without matrix units'] : [])].join(' ');
  return { name: 'dawn', key, open: () => openDawn(options, flags) };
}

/** Returns the default source of the GPU. */
export function defaultSource(options?: DawnOptions): GpuSource {
  // Deno and Bun run Node's condition but may have their own WebGPU.
  const { navigator } = globalThis as { navigator?: { gpu?: GPU } };
  return options === undefined && navigator?.gpu != null ? browserSource() : dawnSource(options);
}

function dawnFlags(options: DawnOptions): string[] {
  const { enable = [], disable = [], backend, adapter, robustness = true, matrixUnits = true } = options;
  const wanted = [
    ...(matrixUnits ? MATRIX_UNIT_TOGGLES : []),
    ...(robustness ? [] : ['disable_robustness']),
    ...enable,
  ];
  const on = [...new Set(wanted)].filter((toggle) => !disable.includes(toggle));
  // Without timestamps rounded to 65 us a profile of small kernels says nothing; pages are not attacked from here.
  const off = ['timestamp_quantization', ...disable];
  return [
    ...(backend === undefined ? [] : [`backend=${backend}`]),
    ...(adapter === undefined ? [] : [`adapter=${adapter}`]),
    ...(on.length === 0 ? [] : [`enable-dawn-features=${on.join(',')}`]),
    `disable-dawn-features=${off.join(',')}`,
  ];
}

async function openDawn(options: DawnOptions, flags: readonly string[]): Promise<GpuFound | GpuMissing> {
  try {
    const key = flags.join(' ');
    let gpu = instances.get(key);
    if (gpu === undefined) {
      const dawn = await loadDawn();
      const missing = options.backend === undefined || options.backend === 'vulkan' ? missingVulkan() : undefined;
      if (missing !== undefined) return missing;
      gpu = dawn.create(flags);
      instances.set(key, gpu);
    }
    const unwanted = options.matrixUnits === false ? [MATRIX_UNITS] : [];
    const checksBounds = options.robustness !== false && options.enable?.includes('disable_robustness') !== true;
    return { found: true, gpu, awaiting: awaitingPolitely, explainNoAdapter, unwanted, checksBounds };
  } catch (error) {
    return explainNoDawn(error);
  }
}

function loadDawn(): Promise<DawnModule> {
  // Not a literal: TypeScript must not load the package's types, nor a bundler its binaries. Those that see through it are told.
  const name = 'webgpu';
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name) as Promise<DawnModule>;
}

function explainNoDawn(error: unknown): GpuMissing {
  const { code, message } = error as { code?: string; message?: string };
  if (code === 'ERR_MODULE_NOT_FOUND') {
    return {
      found: false,
      reason: 'package-missing',
      message: 'the npm package webgpu (Dawn for Node) is not installed',
      hint: 'npm install webgpu',
    };
  }
  if (code === 'MODULE_NOT_FOUND') {
    return {
      found: false,
      reason: 'wrong-platform',
      message: `the npm package webgpu has no Dawn for ${process.platform}-${process.arch}`,
    };
  }
  return {
    found: false,
    reason: 'library-incompatible',
    message: `Dawn does not load: ${firstLine(message ?? String(error))}`,
    hint: process.platform === 'linux' ? 'Dawn needs glibc 2.34 or newer' : undefined,
  };
}

function explainNoAdapter(refusal: string | undefined): GpuMissing {
  if (refusal !== undefined) {
    // It lists the adapters on separate lines.
    const message = refusal.trim().replace(/\s*\n\s*/g, ' ');
    return { found: false, reason: 'no-device', message: `Dawn: ${message}`, hint: 'check the options given for dawn' };
  }
  if (process.platform !== 'linux') {
    return {
      found: false,
      reason: 'no-device',
      message: 'Dawn found no adapter',
      hint: 'check that a graphics driver is installed; Dawn wrote what it refused to stderr',
    };
  }
  return {
    found: false,
    reason: 'no-device',
    message: 'Vulkan is there, but has no device that Dawn takes',
    hint: 'vulkaninfo --summary lists the devices; VK_DRIVER_FILES names drivers that are not found',
  };
}

/**
 * Returns whether Dawn would look for the Vulkan loader in vain, and why. Dawn itself would say so on stderr only. What a dlopen
 * by Node finds is what Dawn finds; that it is no Node addon comes after that.
 */
function missingVulkan(): GpuMissing | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    process.dlopen({ exports: {} }, 'libvulkan.so.1');
  } catch (error) {
    const { message } = error as Error;
    if (message.includes('cannot open shared object file')) {
      return {
        found: false,
        reason: 'library-missing',
        message: `there is no Vulkan loader: ${firstLine(message)}`,
        hint: 'install the GPU driver and the loader (Debian, Ubuntu: apt install libvulkan1)',
      };
    }
  }
  return undefined;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}

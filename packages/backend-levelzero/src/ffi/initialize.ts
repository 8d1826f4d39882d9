import { madeOnce } from '@concord/kernel';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import type { BackendError } from '@concord/backend-core';
import { isAbsent, type Koffi, type LevelZeroLibrary, messageOf, unavailable } from './load.ts';
import { resultName, RESULTS } from './result.ts';
import type { DriverHandle } from './prototypes.ts';
import { Struct } from './structs.ts';

/** The input of the diagnosis. */
export interface SystemView {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  exists(file: string): boolean;
  /** Why a library does not load; undefined when it does. */
  loadFailure(file: string): string | undefined;
  /** The render nodes of GPUs, such as `/dev/dri/renderD128`. */
  renderNodes(): readonly string[];
  /** Returns whether this process may read and write a file. */
  canUse(file: string): boolean;
}

/** Intel's drivers for Level Zero: of today, and of GPUs before 2020. */
const INTEL_DRIVERS = ['libze_intel_gpu.so.1', 'libze_intel_gpu_legacy1.so.1'];

/**
 * Why the loader found no driver, or a driver found no device: all that Level Zero itself says is `UNINITIALIZED`.
 *
 * @param said - what it said, such as `zeInit returned ZE_RESULT_ERROR_UNINITIALIZED (0x78000001)`
 */
export function diagnose(said: string, system: SystemView): BackendError {
  const { env, platform } = system;
  const alternatives = (env['ZE_ENABLE_ALT_DRIVERS'] ?? '').split(',').filter(Boolean);
  if (alternatives.length > 0) return diagnoseAlternatives(said, alternatives, system);
  if (platform !== 'linux') {
    return unavailable('no-device', `${said}: no driver has a device`, "install Intel's graphics driver and restart");
  }
  const failures = INTEL_DRIVERS.map((file) => ({ file, failure: system.loadFailure(file) }));
  if (failures.every(({ failure }) => failure !== undefined)) return diagnoseDriver(said, failures);
  const nodes = system.renderNodes();
  if (nodes.length === 0) {
    return unavailable(
      'no-device',
      `${said}: there is no /dev/dri/renderD*, so no GPU that a program could use`,
      'load the kernel driver of the GPU (i915 or xe); in a container, pass --device /dev/dri',
    );
  }
  if (!nodes.some((node) => system.canUse(node))) {
    return unavailable(
      'permission-denied',
      `${said}: this user may not read and write ${nodes.join(', ')}`,
      'add the user to the group of these files, mostly: sudo usermod -aG render $USER, and log in again',
    );
  }
  const mask = maskOf(env);
  const masked = mask === undefined ? '' : `; ZE_AFFINITY_MASK=${mask} may hide it`;
  const message = `${said}: Intel's driver finds no GPU of Intel's behind ${nodes.join(', ')}${masked}`;
  return unavailable('no-device', message, 'GPUs of other vendors: use @concord/backend-webgpu');
}

function maskOf(env: SystemView['env']): string | undefined {
  return env['ZE_AFFINITY_MASK'] || undefined;
}

function diagnoseAlternatives(said: string, files: readonly string[], system: SystemView): BackendError {
  const named = `ZE_ENABLE_ALT_DRIVERS names ${files.join(', ')}`;
  const absent = files.find((file) => file.includes('/') && !system.exists(file));
  if (absent !== undefined) {
    return unavailable('library-missing', `${said}: ${named}, and ${absent} is not there`, 'correct or unset it');
  }
  const broken = files.map((file) => system.loadFailure(file)).find((failure) => failure !== undefined);
  if (broken !== undefined) {
    return unavailable(
      'library-incompatible',
      `${said}: ${named}, which does not load: ${broken}`,
      'correct or unset it',
    );
  }
  const mask = maskOf(system.env);
  if (mask !== undefined) {
    const message = `${said}: ${named}, which loads; ZE_AFFINITY_MASK=${mask} may hide its devices`;
    return unavailable('no-device', message, 'correct or unset ZE_AFFINITY_MASK');
  }
  return unavailable('failed', `${said}: ${named}, which loads and does not start`, 'correct or unset it');
}

function diagnoseDriver(
  said: string,
  failures: readonly { readonly file: string; readonly failure: string | undefined }[],
): BackendError {
  const broken = failures.find(({ failure = '' }) => !isAbsent(failure));
  if (broken !== undefined) {
    const message = `${said}: Intel's driver ${broken.file} does not load: ${broken.failure}`;
    return unavailable('library-incompatible', message, 'reinstall intel-level-zero-gpu with what it depends on');
  }
  return unavailable(
    'library-missing',
    `${said}: the loader is here, Intel's driver (${INTEL_DRIVERS[0]}) is not`,
    'install it: apt install intel-level-zero-gpu (Debian, Ubuntu: libze-intel-gpu1 in newer ones) or dnf install ' +
      'intel-level-zero (Fedora)',
  );
}

/** The facts about a failed initialisation, for {@link diagnose}. */
function saidBy(call: string, result: number): string {
  return `${call} returned ${resultName(result)}`;
}

/** This machine. */
function thisSystem(koffi: Koffi): SystemView {
  return {
    platform: process.platform,
    env: process.env,
    exists: existsSync,
    loadFailure: (file) => {
      try {
        koffi.load(file);
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    },
    renderNodes: () => {
      try {
        const names = readdirSync('/dev/dri').filter((name) => name.startsWith('renderD'));
        return names.map((name) => `/dev/dri/${name}`);
      } catch {
        return [];
      }
    },
    canUse: (file) => {
      try {
        accessSync(file, constants.R_OK | constants.W_OK);
        return true;
      } catch {
        return false;
      }
    },
  };
}

const ALL_DRIVER_TYPES = 0xffffffff;

/** `zeInit` keeps its first answer for as long as the process lives, and so does this. */
const initialized = new WeakMap<LevelZeroLibrary, readonly DriverHandle[]>();

/**
 * Starts Level Zero, once, and lists its drivers.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE with what is missing and what to do
 */
export function initialize(library: LevelZeroLibrary): readonly DriverHandle[] {
  return madeOnce(initialized, library, () => listDrivers(library));
}

function listDrivers(library: LevelZeroLibrary): readonly DriverHandle[] {
  const { api } = library;
  if (library.has('zeInitDrivers')) {
    const description = new Struct('ze_init_driver_type_desc_t').set('flags', ALL_DRIVER_TYPES).bytes;
    const newer = handles((count, list) => api.zeInitDrivers(count, list, description));
    // Drivers before 1.10 need zeDriverGet.
    if (newer.handles.length > 0) return newer.handles as readonly DriverHandle[];
  }
  const result = api.zeInit(0);
  if (result !== RESULTS.SUCCESS) throw failure(library, saidBy('zeInit', result));
  const listed = handles((count, list) => api.zeDriverGet(count, list));
  if (listed.result !== RESULTS.SUCCESS) throw failure(library, saidBy('zeDriverGet', listed.result));
  if (listed.handles.length === 0) throw failure(library, 'zeDriverGet lists no driver');
  return listed.handles as readonly DriverHandle[];
}

/** The problem of this machine. */
export function failure({ koffi }: LevelZeroLibrary, said: string): BackendError {
  return diagnose(said, thisSystem(koffi));
}

/** Handles that a function lists when it is asked twice: how many, then which. */
export function handles(list: (count: Uint32Array, handles: BigUint64Array | null) => number): {
  readonly result: number;
  readonly handles: readonly bigint[];
} {
  const count = new Uint32Array(1);
  let result = list(count, null);
  if (result !== RESULTS.SUCCESS || count[0] === 0) return { result, handles: [] };
  const found = new BigUint64Array(count[0] ?? 0);
  result = list(count, found);
  return { result, handles: result === RESULTS.SUCCESS ? [...found.subarray(0, count[0])] : [] };
}

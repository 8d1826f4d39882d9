import { BackendError, type UnavailableReason } from '@concord/backend-core';
import type koffi from 'koffi';
import { type FunctionName, koffiTypes, type LevelZeroApi, PROTOTYPES } from './prototypes.ts';

/** The settings that decide where to look for the loader of Level Zero. */
interface LibraryPlace {
  readonly platform: string;
  readonly arch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Names and paths of the loader, in the order in which they are tried; empty where Level Zero does not exist. */
export function candidateLibraries({ platform, arch, env }: LibraryPlace): readonly string[] {
  if (arch !== 'x64') return [];
  if (platform === 'linux') {
    const folders = ['/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib', '/usr/local/lib', '/run/opengl-driver/lib'];
    return ['libze_loader.so.1', 'libze_loader.so', ...folders.map((folder) => `${folder}/libze_loader.so.1`)];
  }
  if (platform === 'win32') {
    return ['ze_loader.dll', `${env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\ze_loader.dll`];
  }
  return [];
}

/** The module `koffi`, which is imported only when a library is to be loaded. */
export type Koffi = typeof koffi;

type NativeLibrary = ReturnType<Koffi['load']>;

/** The loader of Level Zero, loaded. */
export interface LevelZeroLibrary {
  /** Name or path that worked. */
  readonly file: string;
  readonly koffi: Koffi;
  readonly api: LevelZeroApi;
  /** Returns whether the library has a function. */
  has(name: FunctionName): boolean;
}

/** Why one candidate was not loaded. */
interface LoadFailure {
  readonly file: string;
  readonly message: string;
}

/** Kept for ever: a library must not be unloaded while a driver's threads run. */
const opened = new Map<string, Promise<LevelZeroLibrary>>();

/**
 * Loads the loader of Level Zero, once for each file.
 *
 * @param file - a path or name instead of those that are usual on this platform
 * @throws {BackendError} BACKEND_UNAVAILABLE: wrong-platform, package-missing, library-missing, library-incompatible or
 *   permission-denied, with what was tried
 */
export function loadLevelZero(file?: string): Promise<LevelZeroLibrary> {
  const key = file ?? '';
  let library = opened.get(key);
  if (library === undefined) {
    library = load(file, process);
    opened.set(key, library);
    // What is missing now may be installed when it is asked for again.
    library.catch(() => opened.delete(key));
  }
  return library;
}

async function load(file: string | undefined, place: LibraryPlace): Promise<LevelZeroLibrary> {
  const candidates = file === undefined ? candidateLibraries(place) : [file];
  if (candidates.length === 0) {
    const message = `Level Zero exists on Linux and Windows on x64; this is ${place.platform} on ${place.arch}`;
    throw unavailable('wrong-platform', message, 'use @concord/backend-webgpu here');
  }
  const koffi = await importKoffi(place);
  const failures: LoadFailure[] = [];
  for (const candidate of candidates) {
    let library: NativeLibrary;
    try {
      library = koffi.load(candidate);
    } catch (error) {
      failures.push({ file: candidate, message: messageOf(error) });
      continue;
    }
    if (!hasFunction(library, 'zeInit')) {
      failures.push({ file: candidate, message: 'has no function zeInit: it is not a loader of Level Zero' });
      continue;
    }
    pin(koffi, candidate, place.platform);
    return { file: candidate, koffi, api: bind(library), has: (name) => hasFunction(library, name) };
  }
  throw explain(failures, place.platform);
}

async function importKoffi(place: LibraryPlace): Promise<Koffi> {
  try {
    return (await import('koffi')).default;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'ERR_MODULE_NOT_FOUND') {
      throw unavailable('package-missing', 'the npm package koffi is not installed', 'npm install koffi', error);
    }
    const message = `koffi does not load on ${place.platform}-${place.arch}: ${messageOf(error)}`;
    throw unavailable('library-incompatible', message, 'reinstall koffi with its optional dependencies', error);
  }
}

/** The functions of a library, each bound when it is first used. */
function bind(library: NativeLibrary): LevelZeroApi {
  const api = {};
  for (const name of Object.keys(PROTOTYPES) as FunctionName[]) {
    Object.defineProperty(api, name, {
      configurable: true,
      enumerable: true,
      get() {
        const value = library.func(name, 'uint32_t', koffiTypes(name));
        Object.defineProperty(api, name, { value, enumerable: true });
        return value;
      },
    });
  }
  return api as LevelZeroApi;
}

function hasFunction(library: NativeLibrary, name: FunctionName): boolean {
  try {
    library.func(name, 'uint32_t', koffiTypes(name));
    return true;
  } catch {
    return false;
  }
}

const RTLD_NOW = 2;
const RTLD_NODELETE = 0x1000;
const GET_MODULE_HANDLE_EX_FLAG_PIN = 1;

/** Keeps a loaded library in the process, also when the worker that loaded it ends and koffi lets go of it. */
function pin(koffi: Koffi, file: string, platform: string): void {
  try {
    if (platform === 'linux') {
      koffi.load(null).func('dlopen', 'void *', ['str', 'int'])(file, RTLD_NOW | RTLD_NODELETE);
    } else if (platform === 'win32') {
      const get = koffi.load('kernel32.dll').func('GetModuleHandleExA', 'bool', ['uint32_t', 'str', 'void *']);
      get(GET_MODULE_HANDLE_EX_FLAG_PIN, file, new BigUint64Array(1));
    }
  } catch {
    // A C library without `dlopen` in sight: the reference that koffi holds has to do.
  }
}

function explain(failures: readonly LoadFailure[], platform: string): BackendError {
  // A file that is there and does not load says more than the names that nothing has.
  const telling = failures.filter(({ message }) => !isAbsent(message));
  const shown = (telling.length > 0 ? telling : failures).map(({ file, message }) => `${file}: ${message}`).join('; ');
  const message = `the loader of Level Zero does not load: ${shown}`;
  if (telling.length === 0) return unavailable('library-missing', message, installHint(platform));
  if (telling.some((failure) => /permission denied|access is denied/i.test(failure.message))) {
    return unavailable('permission-denied', message, 'make the file readable for this user');
  }
  return unavailable('library-incompatible', message, 'reinstall the loader for this architecture');
}

function installHint(platform: string): string {
  if (platform === 'win32') return "install Intel's graphics driver, which brings ze_loader.dll";
  return 'install the loader: apt install libze1 (Debian, Ubuntu) or dnf install oneapi-level-zero (Fedora)';
}

/**
 * Returns whether what koffi says of a library means that the file itself is not there. koffi leaves the name of that file out;
 * where one is named, it is of something that the library needs.
 */
export function isAbsent(message: string): boolean {
  return /^(cannot open shared object file: no such file|the specified module could not be found|cannot find)/i.test(
    message,
  );
}

/** The one line that says what went wrong. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').replace(/^Failed to load shared library: /i, '');
}

/** The error of a backend that cannot be used here. */
export function unavailable(reason: UnavailableReason, message: string, hint?: string, cause?: unknown): BackendError {
  return new BackendError('BACKEND_UNAVAILABLE', message, { backend: 'level-zero', reason, hint, cause });
}

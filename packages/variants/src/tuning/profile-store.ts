// Only Node loads this file: see "imports" in package.json.
import { parseProfile, type ProfileDevice, type ProfileMaker, type TuningProfile } from './profile.ts';

/** The path of a device's profile, and its state. */
export interface FoundProfile {
  readonly path: string;
  readonly profile?: TuningProfile;
  /** Why the file that is there is not used. */
  readonly problem?: string;
}

/** The part of `node:fs` that is used: these sources compile without Node's types. */
interface FileSystem {
  existsSync(path: string): boolean;
  readFileSync(path: string, encoding: 'utf8'): string;
  mkdirSync(path: string, options: { readonly recursive: true }): unknown;
  writeFileSync(path: string, text: string): void;
  renameSync(from: string, to: string): void;
  rmSync(path: string, options: { readonly force: true }): void;
}

declare const process: {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  emitWarning(message: string, options: { readonly code: string }): void;
  getBuiltinModule(name: 'node:fs'): FileSystem;
  getBuiltinModule(name: 'node:os'): { homedir(): string };
};

const files = (): FileSystem => process.getBuiltinModule('node:fs');

/** Paths that were warned of. */
const warned = new Set<string>();

/**
 * Looks for a profile of a device in the user's cache folder. Never throws: a file that is of no use is a `problem`, of which
 * the process is warned once.
 */
export function findProfile(maker: ProfileMaker): FoundProfile | undefined {
  let path: string;
  try {
    path = pathFor(maker.backend, maker.device);
  } catch {
    // A user without a home has no profile.
    return undefined;
  }
  const found = read(path, maker);
  if (found.problem !== undefined && !warned.has(path)) {
    warned.add(path);
    const message = `the tuning profile ${path} ${found.problem}; it is ignored (concord tune makes a new one)`;
    process.emitWarning(message, { code: 'CONCORD_TUNING' });
  }
  return found;
}

function read(path: string, maker: ProfileMaker): FoundProfile {
  try {
    if (!files().existsSync(path)) return { path };
    return { path, ...parseProfile(files().readFileSync(path, 'utf8'), maker) };
  } catch (error) {
    return { path, problem: `cannot be read: ${(error as Error).message}` };
  }
}

/**
 * Writes a profile in one go: a reader meanwhile gets the old one.
 *
 * @returns the path
 * @throws {Error} of the file system
 */
export function storeProfile(backend: string, profile: TuningProfile): string {
  const path = pathFor(backend, profile.device);
  const draft = draftOf(path);
  try {
    files().mkdirSync(cacheFolder(backend), { recursive: true });
    files().writeFileSync(draft, `${JSON.stringify(profile, undefined, 2)}\n`);
    files().renameSync(draft, path);
  } catch (error) {
    files().rmSync(draft, { force: true });
    throw error;
  }
  return path;
}

/** @throws {Error} of the file system where profiles cannot be written */
export function checkCanStore(backend: string): void {
  const folder = cacheFolder(backend);
  files().mkdirSync(folder, { recursive: true });
  const draft = draftOf(`${folder}/check`);
  files().writeFileSync(draft, '');
  files().rmSync(draft, { force: true });
}

/** Threads of one process may write at once. */
function draftOf(path: string): string {
  return `${path}.${Math.random().toString(36).slice(2)}`;
}

/**
 * The folder in the user's cache folder that a backend may keep files in; it may have to be made.
 *
 * @throws {Error} for a user without a home
 */
export function cacheFolder(backend: string): string {
  const { platform, env } = process;
  const home = (): string => process.getBuiltinModule('node:os').homedir();
  if (platform === 'win32') return `${env['LOCALAPPDATA'] || `${home()}/AppData/Local`}/concord/Cache/${backend}`;
  if (platform === 'darwin') return `${home()}/Library/Caches/concord/${backend}`;
  return `${env['XDG_CACHE_HOME'] || `${home()}/.cache`}/concord/${backend}`;
}

function pathFor(backend: string, { vendor, name }: ProfileDevice): string {
  const slug = `${vendor} ${name}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return `${cacheFolder(backend)}/${slug || 'gpu'}.json`;
}

import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BackendProvider, type ComputeBackend, isBackendError } from '@concord/backend-core';
import { CommandError, messageOf } from './command-error.ts';
import type { ModuleOptions } from './option-values.ts';
import { shellQuote, shellWord } from './output/shell-quote.ts';

/**
 * The provider that a module exports, or one around the backend class or the function that it exports.
 *
 * @throws {CommandError} CANNOT_LOAD when the module is not there or fails, INVALID_ARGUMENT when no export, or more
 *   than one, can be meant
 */
export async function loadProvider(module: string, exportName: string | undefined): Promise<BackendProvider> {
  const exported = await loadModule(module);
  const name = exportName ?? onlyCandidate(module, exported);
  if (!Object.hasOwn(exported, name)) {
    throw wrongExport(`${module} has no export "${name}"; there are: ${Object.keys(exported).join(', ')}`);
  }
  try {
    return await providerOf(exported[name]);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cannotLoad(`the export ${name} of ${module}`, cause);
    throw wrongExport(`the export ${name} of ${module} ${cause.message}`);
  }
}

/** The options as they are typed, for the command that runs a case again; empty without a module. */
export function moduleArguments({ module, export: exportName }: ModuleOptions): string {
  if (module === undefined) return '';
  return ` --module ${shellQuote(module)}${exportName === undefined ? '' : ` --export ${shellWord(exportName)}`}`;
}

/** Puts the module's provider before the others, in the place of one that has its name. */
export async function withModule(
  providers: readonly BackendProvider[],
  { module, export: exportName }: ModuleOptions,
): Promise<{ readonly providers: readonly BackendProvider[]; readonly loaded?: BackendProvider }> {
  if (module === undefined) {
    if (exportName === undefined) return { providers };
    throw wrongExport('--export names an export of --module, which is not given');
  }
  const loaded = await loadProvider(module, exportName);
  return { loaded, providers: [loaded, ...providers.filter(({ name }) => name !== loaded.name)] };
}

/**
 * The exports of a module.
 *
 * @throws {CommandError} CANNOT_LOAD when it is not there or fails
 */
export async function loadModule(module: string): Promise<Record<string, unknown>> {
  try {
    return (await import(addressOf(module))) as Record<string, unknown>;
  } catch (cause) {
    throw cannotLoad(module, cause);
  }
}

function addressOf(module: string): string {
  const isPath = isAbsolute(module) || /^\.{0,2}[/\\]|\.[cm]?[jt]s$/.test(module);
  const file = isPath ? resolve(module) : createRequire(join(process.cwd(), 'any.js')).resolve(module);
  return pathToFileURL(file).href;
}

/** The export that can only be meant: the default one, else the only class of a backend, else the only provider. */
function onlyCandidate(module: string, exported: Record<string, unknown>): string {
  if (Object.hasOwn(exported, 'default')) return 'default';
  const names = Object.keys(exported);
  for (const fits of [isBackendClass, isProvider, (value: unknown): boolean => typeof value === 'function']) {
    const [name, ...others] = names.filter((candidate) => fits(exported[candidate]));
    if (name !== undefined && others.length === 0) return name;
    if (name !== undefined)
      throw wrongExport(`${module} has several exports that may be meant: ${[name, ...others].join(', ')}`);
  }
  throw wrongExport(`${module} exports no backend; its exports: ${names.length === 0 ? 'none' : names.join(', ')}`);
}

function wrongExport(message: string): CommandError {
  return new CommandError(message, {
    hint: '--export takes the name of a provider, of a function that makes one, or of a class of a backend',
  });
}

/** An error that says what could not be loaded, and why. */
export function cannotLoad(what: string, cause: unknown): CommandError {
  const [reason] = messageOf(cause).split('\n');
  return new CommandError(`cannot load ${what}: ${reason}`, {
    code: 'CANNOT_LOAD',
    // It was found, and says itself what is wrong with it.
    hint: isBackendError(cause)
      ? cause.hint
      : 'give the built JavaScript file, such as ./dist/index.js, or the name of an installed package',
    cause,
  });
}

/** The version of the registry's contract. */
const CONTRACT_VERSION = 3;

/** Returns whether a value is what applications pass to `selectBackend`. */
function isProvider(value: unknown): value is BackendProvider {
  const { name, probe, create } = (value ?? {}) as Partial<BackendProvider>;
  return typeof name === 'string' && typeof probe === 'function' && typeof create === 'function';
}

function isBackend(value: unknown): value is ComputeBackend {
  const { init, dispose, alloc, gemm } = (value ?? {}) as Partial<ComputeBackend>;
  return [init, dispose, alloc, gemm].every((method) => typeof method === 'function');
}

/** Returns whether a value is a class whose objects are backends; nothing is called to find out. */
function isBackendClass(value: unknown): value is new () => ComputeBackend {
  return typeof value === 'function' && isBackend(value.prototype);
}

/**
 * The provider that an export is, makes, or stands for: a provider, a function that gives one, a function that gives a
 * backend, or the class of a backend.
 *
 * @throws {TypeError} what the export is instead of these, to be read after its name
 */
async function providerOf(exported: unknown): Promise<BackendProvider> {
  if (isBackendClass(exported)) return providerAround(() => new exported());
  const made: unknown = typeof exported === 'function' ? await (exported as () => unknown)() : exported;
  if (isProvider(made)) {
    if (made.contractVersion === CONTRACT_VERSION) return made;
    throw new TypeError(
      `speaks contract version ${String(made.contractVersion)}, this command speaks ${CONTRACT_VERSION}`,
    );
  }
  if (typeof exported === 'function' && isBackend(made)) {
    await made.dispose();
    return providerAround(exported as () => Promise<ComputeBackend> | ComputeBackend);
  }
  throw new TypeError(
    typeof exported === 'function' ? 'returns neither a provider nor a backend' : 'is not a provider',
  );
}

/** The facts about a backend without a provider: its name, from an object that is never initialized. */
async function providerAround(create: () => Promise<ComputeBackend> | ComputeBackend): Promise<BackendProvider> {
  const sample = await create();
  const { name } = sample;
  await sample.dispose();
  return {
    name,
    priority: 0,
    contractVersion: CONTRACT_VERSION,
    // Whether there is a device is for `init` to say.
    probe: () => Promise.resolve({ available: true, devices: [] }),
    create,
  };
}

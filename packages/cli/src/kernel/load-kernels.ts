import { readFile } from 'node:fs/promises';
import { isBackendError } from '@concord/backend-core';
import { checkKernel, type Kernel } from '@concord/backend-core/kernel';
import { CommandError } from '../command-error.ts';
import { cannotLoad, loadModule } from '../load-module.ts';

/** A kernel, and the export that it is; null for a JSON file. */
export interface LoadedKernel {
  readonly export: string | null;
  readonly kernel: Kernel;
}

/**
 * The kernels of a file: what a `.json` holds, or what a module exports.
 *
 * @param exportName - only this export; undefined: the default one, else all that are kernels
 * @throws {CommandError} CANNOT_LOAD when the file is not there or fails, INVALID_ARGUMENT when it has no such kernel
 */
export async function loadKernels(file: string, exportName: string | undefined): Promise<readonly LoadedKernel[]> {
  if (file.endsWith('.json')) {
    if (exportName !== undefined) throw wrong('--export names an export of a module; a JSON file is one kernel');
    return [{ export: null, kernel: checked(file, await readJson(file)) }];
  }
  const exported = await loadModule(file);
  const name = exportName ?? (Object.hasOwn(exported, 'default') ? 'default' : undefined);
  if (name !== undefined) {
    if (Object.hasOwn(exported, name)) return [{ export: name, kernel: checked(`export ${name}`, exported[name]) }];
    throw wrong(`${file} has no export "${name}"; there are: ${Object.keys(exported).join(', ') || 'none'}`);
  }
  const kernels = Object.entries(exported)
    .filter(([, value]) => looksLikeKernel(value))
    .map(([own, value]) => ({ export: own, kernel: checked(`export ${own}`, value) }));
  if (kernels.length > 0) return kernels;
  throw wrong(`${file} exports no kernel; its exports: ${Object.keys(exported).join(', ') || 'none'}`);
}

function looksLikeKernel(value: unknown): boolean {
  const { nodes, inputs, outputs } = (value ?? {}) as Partial<Kernel>;
  return [nodes, inputs, outputs].every((list) => Array.isArray(list));
}

function checked(what: string, value: unknown): Kernel {
  try {
    return checkKernel(value);
  } catch (error) {
    if (!isBackendError(error, 'INVALID_ARGUMENT')) throw error;
    throw wrong(`${what} is not a kernel: ${error.detail}`);
  }
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as unknown;
  } catch (cause) {
    throw cannotLoad(file, cause);
  }
}

function wrong(message: string): CommandError {
  return new CommandError(message, {
    hint: 'a kernel is what defineKernel of @concord/backend-core/kernel gives, or its JSON',
  });
}

import { constants } from 'node:fs';
import { access, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CommandError, messageOf } from '../command-error.ts';
import type { Output } from '../context.ts';
import { toJsonText } from './json-text.ts';

/** The name of a file that means standard output. */
export const STDOUT = '-';

/**
 * Finds out before a long run whether its result can be written.
 *
 * @throws {CommandError} CANNOT_WRITE
 */
export async function checkWritable(path: string): Promise<void> {
  if (path === STDOUT) return;
  const existing = await stat(path).catch(() => undefined);
  if (existing?.isDirectory() === true) throw cannotWrite(path, 'it is a folder');
  await access(existing === undefined ? dirname(path) : path, constants.W_OK).catch((cause: unknown) => {
    throw cannotWrite(path, cause);
  });
}

/**
 * Finds out before a long run whether its JSON and its trace can be written, each to its own place.
 *
 * @throws {CommandError} INVALID_ARGUMENT, CANNOT_WRITE
 */
export async function checkReportFiles(json: string | undefined, trace: string | undefined): Promise<void> {
  if (json !== undefined && trace !== undefined && resolve(json) === resolve(trace)) {
    const place = json === STDOUT ? 'standard output' : json;
    throw new CommandError(`--json and --trace cannot both write to ${place}`, {
      hint: 'give one of them another file',
    });
  }
  for (const file of [json, trace]) if (file !== undefined) await checkWritable(file);
}

/**
 * Writes `value` as JSON to a file, or to `stdout` for `-`, as {@link toJsonText} spells it.
 *
 * @throws {CommandError} CANNOT_WRITE
 */
export async function writeJson(path: string, value: unknown, stdout: Output): Promise<void> {
  await writeText(path, toJsonText(value), stdout);
}

/**
 * Writes `text` to a file, or to `stdout` for `-`.
 *
 * @throws {CommandError} CANNOT_WRITE
 */
export async function writeText(path: string, text: string, stdout: Output): Promise<void> {
  if (path === STDOUT) {
    stdout.write(text);
    return;
  }
  await writeFile(path, text).catch((cause: unknown) => {
    throw cannotWrite(path, cause);
  });
}

function cannotWrite(path: string, cause: unknown): CommandError {
  const reason = messageOf(cause);
  const hint = 'give a file in a folder that exists and can be written, or - for standard output';
  return new CommandError(`cannot write ${path}: ${reason}`, { code: 'CANNOT_WRITE', hint, cause });
}

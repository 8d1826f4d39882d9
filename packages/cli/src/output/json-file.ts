import { constants } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError } from '../command-error.ts';
import type { Output } from '../context.ts';
import { EXIT } from '../exit-codes.ts';

/** The argument of `--json` that means standard output. */
export const STDOUT = '-';

/**
 * Finds out before a long run whether its result can be written.
 *
 * @throws {CommandError} CANNOT_WRITE
 */
export async function checkWritable(path: string): Promise<void> {
  if (path === STDOUT) return;
  await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
    throw cannotWrite(path, cause);
  });
}

/**
 * Writes `value` as JSON to a file, or to `stdout` for `-`.
 *
 * @throws {CommandError} CANNOT_WRITE
 */
export async function writeJson(path: string, value: unknown, stdout: Output): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (path === STDOUT) {
    stdout.write(text);
    return;
  }
  await writeFile(path, text).catch((cause: unknown) => {
    throw cannotWrite(path, cause);
  });
}

function cannotWrite(path: string, cause: unknown): CommandError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const hint = 'give --json a file in a folder that exists and can be written, or - for standard output';
  return new CommandError(`cannot write ${path}: ${reason}`, {
    code: 'CANNOT_WRITE',
    exitCode: EXIT.usage,
    hint,
    cause,
  });
}

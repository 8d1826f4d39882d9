// @ts-check
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './paths.mjs';

const isWindows = process.platform === 'win32';

/** @returns {NodeJS.ProcessEnv} the environment for child processes: installed tools first on PATH, no telemetry */
export function toolEnvironment() {
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', DO_NOT_TRACK: '1' };
  // Windows spells it "Path"; turbo and publint call the pnpm they find there.
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  return { ...env, [key]: join(root, 'node_modules', '.bin') + delimiter + (process.env[key] ?? '') };
}

/**
 * Runs a program with this terminal, in the top folder, and waits for it.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {object} [options]
 * @param {string} [options.cwd]
 * @param {Record<string, string>} [options.env] added to the environment
 * @param {(line: string) => boolean} [options.isShown] which lines of its stderr come to this terminal; default: all
 * @returns {Promise<number>} its exit code; 128 + signal where a signal ended it
 */
export function run(command, args, { cwd = root, env = {}, isShown } = {}) {
  return new Promise((resolve, reject) => {
    // Programs in node_modules/.bin are .cmd files on Windows, which only a shell starts.
    const shell = isWindows && command !== process.execPath;
    const quoted = shell ? args.map((arg) => `"${arg}"`) : args;
    const child = spawn(command, quoted, {
      ...{ cwd, env: { ...toolEnvironment(), ...env }, shell },
      stdio: ['inherit', 'inherit', isShown ? 'pipe' : 'inherit'],
    });
    if (child.stderr !== null) {
      createInterface({ input: child.stderr }).on(
        'line',
        (line) => isShown?.(line) && process.stderr.write(`${line}\n`),
      );
    }
    // On a terminal Ctrl-C reaches the child by itself, and twice would mean "at once" to some programs. Either way this
    // process stays until the child has left, and ends as it did.
    const forward = (/** @type {NodeJS.Signals} */ signal) => {
      if (signal === 'SIGTERM' || !process.stdin.isTTY) child.kill(signal);
    };
    process.on('SIGINT', forward);
    process.on('SIGTERM', forward);
    const done = () => {
      process.off('SIGINT', forward);
      process.off('SIGTERM', forward);
    };
    child.once('error', (error) => {
      done();
      reject(new Error(`cannot run ${command}: ${error.message}`));
    });
    // With its streams at their end.
    child.once('close', (code, signal) => {
      done();
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}

/**
 * The main of a script: its number becomes the exit code, an error one line on stderr.
 *
 * @param {() => Promise<number>} main
 */
export async function runMain(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

// @ts-check
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/**
 * Runs a command with more in its environment. This process then ends as the command ended.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {Record<string, string>} env what to add
 * @param {() => void} [onEnd] called when it has ended
 */
export function runCommand(command, args, env, onEnd = () => undefined) {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  // Ctrl-C on a terminal reaches the command by itself; this process only has to outlive it.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`cannot run ${command}: ${error.message}`);
    process.exitCode = 127;
    onEnd();
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
    onEnd();
  });
}

// @ts-check
// `run.mjs <command> [args...]` runs a command whose Level Zero loader uses the driver for the CPU.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { driver } from './lib/cache.mjs';
import { setUp } from './setup.mjs';

const help = `usage: node software-devices/level-zero-cpu/run.mjs <command> [args...]

Sets the driver up if that is still to be done, then runs the command with ZE_ENABLE_ALT_DRIVERS such that the Level
Zero loader uses it and no other. Ends as the command ends.
`;

const [command, ...args] = process.argv.slice(2);

if (command === '--help' || command === '-h') {
  process.stdout.write(help);
} else if (!command) {
  process.stderr.write(help);
  process.exitCode = 2;
} else if (!setUp()) {
  process.exitCode = 1;
} else {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ZE_ENABLE_ALT_DRIVERS: driver } });
  // Ctrl-C on a terminal reaches the command by itself; this process only has to outlive it.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`cannot run ${command}: ${error.message}`);
    process.exitCode = 127;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
  });
}

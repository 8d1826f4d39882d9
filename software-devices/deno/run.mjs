// @ts-check
// `run.mjs <device> <program> [args...]` runs a program in Deno, whose WebGPU uses a software device.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { devices } from '../vulkan/lib/cache.mjs';
import { setUp as setUpVulkan } from '../vulkan/setup.mjs';
import { DENO_ARGUMENTS, denoEnvironment } from './launch.mjs';
import { setUpDeno } from './setup.mjs';

const choices = /** @type {const} */ ([...devices, 'none']);
const help = `usage: node software-devices/deno/run.mjs <${choices.join('|')}> <program> [args...]

Fetches Deno and sets the device up if that is still to be done, then runs the program in Deno; with none, on what the
machine has. Ends as the program ends.
`;

const [name, ...args] = process.argv.slice(2);
const device = choices.find((candidate) => candidate === name);

if (name === '--help' || name === '-h') {
  process.stdout.write(help);
} else if (!device || args.length === 0) {
  process.stderr.write(help);
  process.exitCode = 2;
} else {
  const deno = setUpDeno();
  if (deno.path === undefined) {
    console.error(`deno: not available: ${deno.reason}`);
    process.exitCode = 1;
  } else if (device !== 'none' && setUpVulkan([device]).length > 0) {
    process.exitCode = 1;
  } else {
    const child = spawn(deno.path, [...DENO_ARGUMENTS, ...args], { stdio: 'inherit', env: denoEnvironment(device) });
    child.on('exit', (code, signal) => {
      process.exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
    });
  }
}

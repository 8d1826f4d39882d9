// @ts-check
// `run.mjs <command> [args...]` runs a command whose Level Zero loader uses the driver for the CPU.
import { runCommand } from '../vulkan/lib/run-command.mjs';
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
  runCommand(command, args, { ZE_ENABLE_ALT_DRIVERS: driver });
}

// @ts-check
// `run.mjs <device> <command> [args...]` runs a command whose Dawn uses a software device.
import { delimiter } from 'node:path';
import { devices, folderOf } from './lib/cache.mjs';
import { runCommand } from './lib/run-command.mjs';
import { setUp } from './setup.mjs';

const help = `usage: node software-devices/vulkan/run.mjs <${devices.join('|')}> <command> [args...]

Sets the device up if that is still to be done, then runs the command with LD_LIBRARY_PATH such that Dawn finds the
device instead of the system's Vulkan. Ends as the command ends.
`;

const [name, command, ...args] = process.argv.slice(2);
const device = devices.find((candidate) => candidate === name);

if (name === '--help' || name === '-h') {
  process.stdout.write(help);
} else if (!device || !command) {
  process.stderr.write(help);
  process.exitCode = 2;
} else if (setUp([device]).length > 0) {
  process.exitCode = 1;
} else {
  const given = process.env['LD_LIBRARY_PATH'];
  const path = folderOf(device) + (given ? delimiter + given : '');
  runCommand(command, args, { LD_LIBRARY_PATH: path });
}

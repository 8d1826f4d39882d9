// @ts-check
// `run.mjs <product> <command> [args...]` runs a command that finds one of Intel's GPUs through Intel's own driver.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../vulkan/lib/run-command.mjs';
import { environmentOf, productNames, products } from './lib/products.mjs';
import { setUp } from './setup.mjs';

const help = `usage: node software-devices/intel-driver/run.mjs <${productNames.join('|')}> <command> [args...]

Sets the driver up if that is still to be done, then runs the command with an environment in which Intel's Level Zero
driver finds that GPU, without there being one. Kernels are built and launched, and do not run: what they would have
written stays unwritten. Ends as the command ends.

${productNames.map((name) => `  ${name.padEnd(5)} ${products[name].title}`).join('\n')}
`;

const [name, command, ...args] = process.argv.slice(2);
const product = productNames.find((candidate) => candidate === name);

if (name === '--help' || name === '-h') {
  process.stdout.write(help);
} else if (!product || !command) {
  process.stderr.write(help);
  process.exitCode = 2;
} else if (!setUp()) {
  process.exitCode = 1;
} else {
  const captures = mkdtempSync(join(tmpdir(), 'concord-intel-'));
  runCommand(command, args, environmentOf(product, captures), () => rmSync(captures, { recursive: true, force: true }));
}

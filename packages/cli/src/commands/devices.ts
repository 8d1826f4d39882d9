import type { Command } from 'commander';
import type { CommandContext, Finish } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { inspectDevices } from '../inspect-devices.ts';
import { colorsFor } from '../output/colors.ts';
import { devicesTable } from '../output/devices-table.ts';
import { toJsonText } from '../output/output-file.ts';

const HELP = `
Examples:
  concord devices
  concord devices --json
  concord devices --verbose               builds every kernel variant too, and says which do not build
  CONCORD_BACKEND=cpu concord devices     what would be picked with that setting

Exit codes:
  0    a backend can be used
  2    wrong arguments, or CONCORD_BACKEND names an unknown backend
  3    no backend can be used on this machine
  130  interrupted with Ctrl-C`;

interface Options {
  readonly json?: true;
  readonly verbose?: true;
}

/** Adds `concord devices`: every backend, whether it works here and why not, and which one is picked. */
export function addDevicesCommand(program: Command, context: CommandContext, finish: Finish): void {
  program
    .command('devices')
    .summary('list the backends that work on this machine, and why others do not')
    .description('Opens every backend once and shows its device, or why it cannot be used and what to do about it.')
    .option('--json', 'print one JSON object in place of the table')
    .addHelpText('after', HELP)
    .action(async (_, command: Command) => finish(await listDevices(context, command.optsWithGlobals<Options>())));
}

async function listDevices({ providers, stdout, signal }: CommandContext, options: Options): Promise<number> {
  const report = await inspectDevices(providers, { signal, triesVariants: options.verbose === true });
  if (options.json === true) stdout.write(toJsonText(report));
  else stdout.write(`${devicesTable(report, colorsFor(stdout), tableWidth(stdout.columns))}\n`);
  return report.picked === null ? EXIT.unavailable : EXIT.ok;
}

/** What the terminal has, within what is pleasant to read. */
function tableWidth(columns = 100): number {
  return Math.min(100, Math.max(60, columns));
}

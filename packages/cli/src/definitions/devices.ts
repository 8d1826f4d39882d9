import type { Command } from 'commander';
import type { DevicesOptions } from '../commands/devices.ts';
import { commandContext, type Finish, type ProgramContext } from '../context.ts';

const HELP = `
Examples:
  concord devices
  concord devices --json
  concord devices --verbose             builds every kernel variant too, and
                                        says which do not build
  CONCORD_BACKEND=cpu concord devices   what would be picked with that setting

Exit codes:
  0    a backend can be used
  2    wrong arguments, or CONCORD_BACKEND names an unknown backend
  3    no backend can be used on this machine
  130  interrupted with Ctrl-C`;

/** Adds `concord devices`: every backend, whether it works here and why not, and which one is picked. */
export function addDevicesCommand(program: Command, context: ProgramContext, finish: Finish): void {
  program
    .command('devices')
    .summary('list the backends that work on this machine, and why others do not')
    .description('Opens every backend once and shows its device, or why it cannot be used and what to do about it.')
    .option('--json', 'print one JSON object instead of the table')
    .addHelpText('after', HELP)
    .action(async (_, command: Command) => {
      const { listDevices } = await import('../commands/devices.ts');
      finish(await listDevices(await commandContext(context), command.optsWithGlobals<DevicesOptions>()));
    });
}

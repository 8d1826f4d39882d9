import { Command, CommanderError } from 'commander';
import { COMMANDS } from './definitions.ts';
import type { Finish, ProgramContext } from './context.ts';
import { EXIT } from './command-error.ts';
import type { ModuleOptions } from './option-values.ts';
import { colorsFor } from './output/colors.ts';
import { packageVersion } from './report-environment.ts';
import { reportError } from './output/report-error.ts';

const HELP = `
Environment:
  CONCORD_BACKEND=a,b   use only these backends, in this order
  CONCORD_REQUIRE=a,b   conformance fails where one of these cannot be used
  CONCORD_VARIANT=a,b   force kernel variants, by ids or globs such as
                        'conv2d/*'; 'webgpu:conv2d/*' means those of one backend
  CONCORD_TUNING=ignore go without the profile that concord tune wrote
  NO_COLOR=1            no colours

Examples:
  concord devices
  concord conformance --backend cpu
  concord fuzz --seconds 60
  concord bench --size small
  concord profile ./dist/model.js --trace trace.json
  concord tune
  concord kernel ./dist/softmax.js --shape 64,1024 --folded 1

concord <command> --help has the options, examples and exit codes of a command.`;

/** The whole command line. `finish` gets the exit code of the subcommand that ran. */
export function buildProgram(context: ProgramContext, finish: Finish): Command {
  const { stdout, stderr } = context;
  const program = new Command('concord')
    .description('Which compute devices work on this machine, and do they give the right answers?')
    .version(packageVersion(), '--version', 'print the version')
    .option('--verbose', 'show stacks of errors; with devices, also which kernel variants work')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => helpWidth(stdout.columns),
      getErrHelpWidth: () => helpWidth(stderr.columns),
      // Printed by runProgram, in the form of all other errors.
      outputError: () => undefined,
    })
    .configureHelp({ styleTitle: (title) => colorsFor(stdout).bold(title), showGlobalOptions: true });
  program.hook('preAction', async (_, command) => {
    // A user's backend may have variants that ours does not know.
    if (command.opts<ModuleOptions>().module !== undefined || !isTuningSet(process.env)) return;
    const { checkEnvironment } = await import('./check-environment.ts');
    checkEnvironment();
  });
  for (const add of COMMANDS) add(program, context, finish);
  return program;
}

/**
 * Runs the command line.
 *
 * @param args - without the names of the interpreter and the script
 * @returns the exit code
 */
export async function runProgram(args: readonly string[], context: ProgramContext): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = buildProgram(context, (code) => (exitCode = code));
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (context.signal.aborted) return EXIT.interrupted;
    if (error instanceof CommanderError && isHelp(error)) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const isVerbose = program.opts<{ verbose?: true }>().verbose === true;
    return reportError(error, context.stderr, { isVerbose, command: commandIn(args, program) });
  }
}

/** Help and version end the parsing with an error too; they have printed what there is to say. */
function isHelp({ code }: CommanderError): boolean {
  return ['commander.help', 'commander.helpDisplayed', 'commander.version'].includes(code);
}

/** The subcommand that was meant, if it is one: the options before it take no values. */
function commandIn(args: readonly string[], program: Command): string | undefined {
  const word = args.find((arg) => !arg.startsWith('-'));
  return program.commands.find((command) => command.name() === word)?.name();
}

function isTuningSet(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env['CONCORD_VARIANT']) || Boolean(env['CONCORD_TUNING']);
}

/** The width of every terminal, and of the texts that are not wrapped. */
function helpWidth(columns = 80): number {
  return Math.min(80, columns);
}

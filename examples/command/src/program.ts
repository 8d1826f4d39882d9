import { Command, CommanderError } from 'commander';
import { backendOption, checkBackendNames } from './backend-option.ts';
import { type Output, widthOf } from './output.ts';
import { EXIT, reportError } from './report-error.ts';

/** The streams and the signal that a program runs with. */
export interface CommandContext {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/**
 * A command line as a function.
 *
 * @param args - without the names of the interpreter and the script
 * @returns the exit code; an error has been printed by then
 */
export type Program = (args: readonly string[], context: CommandContext) => Promise<number>;

/** The options that every program has. */
export interface CommonOptions {
  /** Names of backends, the first one that works is used; undefined: the best that works. */
  readonly backend?: readonly string[];
  /** One JSON object instead of text. */
  readonly json?: boolean;
  /** Show the stack of errors. */
  readonly verbose?: boolean;
}

/** One of the commands of a program that has several. */
export interface Subcommand {
  readonly name: string;
  readonly description: string;
  /** Adds its arguments and options. */
  readonly define?: ((command: Command) => Command) | undefined;
  /** @returns the exit code */
  readonly run: (command: Command, context: CommandContext) => Promise<number>;
}

/** Work with the arguments and options of a command; gives the exit code. */
type Run<Options> = (
  args: readonly string[],
  options: Options & CommonOptions,
  context: CommandContext,
) => Promise<number>;

/** A program: its help, its options, and its work. */
export interface ProgramDefinition<Options> {
  readonly name: string;
  readonly description: string;
  /** Command lines for the help. */
  readonly examples: readonly string[];
  /** A paragraph of the help, after the examples. */
  readonly notes?: string;
  /** The meaning of the exit codes 0 (default: "done"), 1 and 2. */
  readonly exitCodes: { readonly ok?: string; readonly failed: string; readonly usage: string };
  /** Adds arguments, and options besides the common ones. */
  readonly define?: (command: Command) => Command;
  /** The option `--verbose` in the help; default: "show the stack of errors". */
  readonly verbose?: string;
  /** False for a program that is written for one backend. */
  readonly hasBackendOption?: boolean;
  /** The work of a program without subcommands. */
  readonly run?: Run<Options>;
  /** Of {@link subcommand}; the options of the program are theirs too. */
  readonly commands?: readonly Subcommand[];
}

/** Makes one of the commands of a program. */
export function subcommand<Options = object>(
  name: string,
  description: string,
  run: Run<Options>,
  define?: (command: Command) => Command,
): Subcommand {
  const runParsed: Subcommand['run'] = (command, context) => {
    const options = command.optsWithGlobals<Options & CommonOptions>();
    checkBackendNames(options.backend);
    return run(command.args, options, context);
  };
  return { name, description, define, run: runParsed };
}

/** Makes a program that parses, fails and ends as all examples do. */
export function defineProgram<Options = object>(definition: ProgramDefinition<Options>): Program {
  const { run, commands = [], ...described } = definition;
  return async (args, context) => {
    try {
      let work = (): Promise<number> => Promise.resolve(EXIT.ok);
      const command = commandOf(described, context).configureHelp({ showGlobalOptions: true });
      if (run !== undefined) {
        const own = subcommand(definition.name, '', run);
        command.action(() => {
          work = () => own.run(command, context);
        });
      }
      for (const each of commands) {
        const added = command.command(each.name).description(each.description);
        each.define?.(added);
        added.action(() => {
          work = () => each.run(added, context);
        });
      }
      command.parse(commands.length > 0 && args.length === 0 ? ['--help'] : [...args], { from: 'user' });
      return await work();
    } catch (error) {
      if (context.signal.aborted) return EXIT.interrupted;
      if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
      return reportError(error, context.stderr, args.includes('--verbose'));
    }
  };
}

function commandOf(definition: ProgramDefinition<never>, { stdout, stderr }: CommandContext): Command {
  const { name, description, define, verbose = 'show the stack of errors', hasBackendOption = true } = definition;
  const command = new Command(name)
    .description(description)
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', helpAfter(definition))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => widthOf(stdout),
      // Printed by reportError, in the form of all other errors.
      outputError: () => undefined,
    });
  define?.(command);
  if (hasBackendOption) command.addOption(backendOption());
  return command.option('--json', 'print one JSON object instead of text').option('--verbose', verbose);
}

function helpAfter({ examples, notes, exitCodes, hasBackendOption = true }: ProgramDefinition<never>): string {
  return [
    ...['', 'Examples:', ...examples.map((example) => `  ${example}`)],
    ...(notes === undefined ? [] : ['', notes]),
    ...['', 'Exit codes:'],
    `  0    ${exitCodes.ok ?? 'done'}`,
    `  1    ${exitCodes.failed}`,
    `  2    ${exitCodes.usage}`,
    '  3    no backend can be used on this machine',
    '  130  interrupted with Ctrl-C',
    ...(hasBackendOption ? ['', 'CONCORD_BACKEND=a,b restricts the choice of the backend as --backend does.'] : []),
  ].join('\n');
}

import { constants } from 'node:os';
import { Command, CommanderError } from 'commander';
import { backendNames } from './backend.ts';
import { reportError } from './errors.ts';
import { EXIT } from './user-error.ts';
import { type Output, widthOf } from './output.ts';

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

/** Work with the arguments and options of a command; gives the exit code. */
type Run<Options> = (
  args: readonly string[],
  options: Options & CommonOptions,
  context: CommandContext,
) => Promise<number>;

/** One of the commands of a program that has several: adds itself to the program, and hands over its work when it is the one called. */
export type Subcommand = (
  program: Command,
  context: CommandContext,
  take: (work: () => Promise<number>) => void,
) => void;

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
  /** The work of a program without subcommands. */
  readonly run?: Run<Options>;
  /** Of {@link subcommand}; the options of the program are theirs too. */
  readonly commands?: readonly Subcommand[];
}

/** Makes one of the commands of a program; `define` adds its arguments and options. */
export function subcommand<Options = object>(
  name: string,
  description: string,
  run: Run<Options>,
  define?: (command: Command) => Command,
): Subcommand {
  return (program, context, take) => {
    const command = program.command(name).description(description);
    define?.(command);
    command.action(() => take(() => run(command.args, command.optsWithGlobals<Options & CommonOptions>(), context)));
  };
}

/** Makes a program that parses, fails and ends as all examples do. */
export function defineProgram<Options = object>(definition: ProgramDefinition<Options>): Program {
  const { run, commands = [], ...described } = definition;
  return async (args, context) => {
    try {
      let work = (): Promise<number> => Promise.resolve(EXIT.ok);
      const command = commandOf(described, context);
      if (run !== undefined) {
        command.action(() => {
          work = () => run(command.args, command.opts<Options & CommonOptions>(), context);
        });
      }
      for (const add of commands) add(command, context, (own) => (work = own));
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
  const { name, description, define, examples, notes, exitCodes, verbose = 'show the stack of errors' } = definition;
  const after = [
    ...['', 'Examples:', ...examples.map((example) => `  ${example}`)],
    ...(notes === undefined ? [] : ['', notes]),
    ...['', 'Exit codes:'],
    `  0    ${exitCodes.ok ?? 'done'}`,
    `  1    ${exitCodes.failed}`,
    `  2    ${exitCodes.usage}`,
    '  3    no backend can be used on this machine',
    '  130  interrupted with Ctrl-C',
    ...['', 'CONCORD_BACKEND=a,b restricts the choice of the backend as --backend does.'],
  ];
  const command = new Command(name)
    .description(description)
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', after.join('\n'))
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => widthOf(stdout),
      // Printed by reportError, in the form of all other errors.
      outputError: () => undefined,
    });
  define?.(command);
  return command
    .option('--backend <names>', 'use one of these, in this order (default: the best that works)', backendNames)
    .option('--json', 'print one JSON object instead of text')
    .option('--verbose', verbose);
}

/** Runs a program on the arguments, the streams and the Ctrl-C of this process. */
export async function runMain(runProgram: Program): Promise<void> {
  const interrupt = new AbortController();
  // Once: a second Ctrl-C ends the process immediately, should the first one hang in a driver.
  process.once('SIGINT', () => interrupt.abort());

  // The reader has closed the pipe, as `| head` does: end without an error message, as programs do that SIGPIPE ends.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(128 + constants.signals.SIGPIPE);
    });
  }

  const { stdout, stderr } = process;
  process.exitCode = await runProgram(process.argv.slice(2), { stdout, stderr, signal: interrupt.signal });
}

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
  /** @returns the exit code */
  readonly run: (args: readonly string[], options: Options & CommonOptions, context: CommandContext) => Promise<number>;
}

/** Makes a program that parses, fails and ends as all examples do. */
export function defineProgram<Options = object>(definition: ProgramDefinition<Options>): Program {
  return async (args, context) => {
    try {
      const command = commandOf(definition, context).parse([...args], { from: 'user' });
      const options = command.opts<Options & CommonOptions>();
      checkBackendNames(options.backend);
      return await definition.run(command.args, options, context);
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

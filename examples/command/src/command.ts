import { Command, CommanderError, Option } from 'commander';
import { type Output, widthOf } from './output.ts';
import { providers } from './providers.ts';
import { EXIT, reportError } from './report-error.ts';
import { UserError } from './user-error.ts';

/** What a program needs from the world around it. */
export interface CommandContext {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/**
 * A command without arguments and options of its own yet.
 *
 * @param help - examples and exit codes, behind the options
 */
export function newCommand(name: string, help: string, { stdout, stderr }: CommandContext): Command {
  return new Command(name)
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', help)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => widthOf(stdout),
      // Printed by runCommand, in the form of all other errors.
      outputError: () => undefined,
    });
}

/** `--backend <names>`, which {@link checkBackendNames} checks. */
export function backendOption(): Option {
  const option = new Option('--backend <names>', 'use one of these, in this order (default: the best that works)');
  return option.argParser((names: string) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
}

/** `--verbose`. */
export function verboseOption(what = 'show the stack of errors'): Option {
  return new Option('--verbose', what);
}

/**
 * Parses the arguments and runs what they ask for.
 *
 * @param run - gives the exit code
 * @returns the exit code, of an error too, which is printed
 */
export async function runCommand(
  command: Command,
  args: readonly string[],
  { stderr, signal }: CommandContext,
  run: () => Promise<number>,
): Promise<number> {
  try {
    command.parse([...args], { from: 'user' });
    return await run();
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    return reportError(error, stderr, args.includes('--verbose'));
  }
}

/**
 * `selectBackend` would refuse a name as well, but knows nothing of the option that it came from.
 *
 * @throws {UserError} INVALID_ARGUMENT
 */
export function checkBackendNames(names: readonly string[] = []): void {
  const known = providers().map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const message = `no backend "${unknown}"; there are: ${known.join(', ')}`;
  throw new UserError('INVALID_ARGUMENT', message, { hint: 'check the option --backend' });
}

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { colorsFor, type Output, widthOf } from './output.ts';
import { EXIT, reportError } from './report-error.ts';
import { formatResult } from './report.ts';
import { search } from './search.ts';

/** What the program needs from the world around it. */
export interface SearchContext {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

interface Options {
  readonly dir: string;
  readonly backend?: readonly string[];
  readonly top: number;
  readonly check?: true;
  readonly json?: true;
  readonly verbose?: true;
}

/** This checkout: there are hundreds of documents in it once its packages are installed. */
const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));

const HELP = `
Examples:
  search "how do I report a security problem" --check
  search "parse command line options" --top 3 --dir ~/notes
  search "progress bar" --json | jq '.hits[0].file'

Exit codes:
  0    done
  1    --check found a score that is off by more than is allowed, or an unforeseen error
  2    wrong arguments, or nothing to search
  3    no backend can be used on this machine
  130  interrupted with Ctrl-C

CONCORD_BACKEND=a,b restricts the choice of the backend as --backend does. NO_COLOR=1 turns colours off.`;

/**
 * Runs the command line.
 *
 * @param args - without the names of the interpreter and the script
 * @returns the exit code
 */
export async function runProgram(args: readonly string[], context: SearchContext): Promise<number> {
  const program = buildProgram(context);
  try {
    program.parse([...args], { from: 'user' });
    return await run(program.processedArgs[0] as string, program.opts<Options>(), context);
  } catch (error) {
    if (context.signal.aborted) return EXIT.interrupted;
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    return reportError(error, context.stderr, args.includes('--verbose'));
  }
}

function buildProgram({ stdout, stderr }: SearchContext): Command {
  return new Command('search')
    .description('Brute-force text search on whichever compute backend works best on this machine.')
    .argument('<question>', 'what to look for, in plain words')
    .addOption(
      new Option('--dir <folder>', 'search the text and Markdown files below it').default(CHECKOUT, 'this checkout'),
    )
    .option('--backend <names>', 'use one of these, in this order (default: the best that works)', names)
    .option('--top <k>', 'how many passages to print', positiveInteger, 5)
    .option('--check', 'compute all scores again on the float64 oracle and compare')
    .option('--json', 'print one JSON object and nothing else')
    .option('--verbose', 'show what the registry tried, and the stack of errors')
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => widthOf(stdout),
      // Printed by runProgram, in the form of all other errors.
      outputError: () => undefined,
    });
}

async function run(question: string, options: Options, { stdout, stderr, signal }: SearchContext): Promise<number> {
  const { backend, top, check = false, json = false, verbose = false } = options;
  const request = { question, folder: resolve(options.dir), top, check, ...(backend === undefined ? {} : { backend }) };
  const result = await search(request, stderr, signal);
  if (json) stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  else stdout.write(formatResult(result, { colors: colorsFor(stdout), width: widthOf(stdout), verbose }));
  return result.check?.passed === false ? EXIT.failed : EXIT.ok;
}

function positiveInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('It must be an integer above 0.');
  return number;
}

function names(value: string): string[] {
  return value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

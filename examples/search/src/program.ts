import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  backendOption,
  colorsFor,
  type CommandContext,
  EXIT,
  newCommand,
  runCommand,
  verboseOption,
  widthOf,
} from '@concord/example-command';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { formatResult } from './report.ts';
import { search } from './search.ts';

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
export function runProgram(args: readonly string[], context: CommandContext): Promise<number> {
  const command = searchCommand(context);
  return runCommand(command, args, context, () =>
    run(command.processedArgs[0] as string, command.opts<Options>(), context),
  );
}

function searchCommand(context: CommandContext): Command {
  return newCommand('search', HELP, context)
    .description('Brute-force text search on whichever compute backend works best on this machine.')
    .argument('<question>', 'what to look for, in plain words')
    .addOption(
      new Option('--dir <folder>', 'search the text and Markdown files below it').default(CHECKOUT, 'this checkout'),
    )
    .addOption(backendOption())
    .option('--top <k>', 'how many passages to print', positiveInteger, 5)
    .option('--check', 'compute all scores again on the float64 oracle and compare')
    .option('--json', 'print one JSON object and nothing else')
    .addOption(verboseOption('show what the registry tried, and the stack of errors'));
}

async function run(question: string, options: Options, { stdout, stderr, signal }: CommandContext): Promise<number> {
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

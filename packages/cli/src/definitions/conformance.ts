import { type Command, Option } from 'commander';
import type { ConformanceOptions } from '../commands/conformance.ts';
import { commandContext, type Finish, type ProgramContext } from '../context.ts';
import { EXIT_CODE_HELP } from '../exit-codes.ts';
import { addModuleOptions } from '../module-options.ts';
import { fraction } from '../option-values.ts';

const HELP = `
Examples:
  concord conformance
  concord conformance --backend cpu --filter 'gemm/**'
  concord conformance --backend webgpu,cpu       both, and a table of the two
  concord conformance --list --filter reduce     the ids of the cases
  concord conformance --bail                     up to the first that fails
  concord conformance --sample 0.1               a tenth, always the same cases
  concord conformance --html report.html         a page to read and to pass on
  concord conformance --module ./dist/index.js   your own backend
  concord conformance --backend level-zero --each-variant
  concord conformance --json report.json
  concord conformance --json - | jq '.cases[] | select(.status == "failed")'
  CONCORD_REQUIRE=webgpu concord conformance     a missing device is a failure
${EXIT_CODE_HELP}
With several backends it is the worst of theirs: 1 before 3 before 0.`;

/** Adds `concord conformance`: do backends give the right answers on this machine. */
export function addConformanceCommand(program: Command, context: ProgramContext, finish: Finish): void {
  addModuleOptions(program.command('conformance'))
    .summary('check that a backend gives the right answers')
    .description('Runs the conformance suite on a backend, or several, and compares with the float64 oracle.')
    .option('--backend <names>', 'what to run, with commas between several (default: what an application would get)')
    .option('--filter <glob>', "only the cases whose id matches: an op, a glob such as 'gemm/exact/**', or one id")
    .option('--sample <fraction>', 'only that fraction of them, always the same ones, and every fixed/ case', fraction)
    .addOption(
      new Option('--list', 'print the ids of these cases and run none').conflicts([
        'bail',
        'eachVariant',
        'html',
        'json',
      ]),
    )
    .option('--bail', 'end at the first case that fails')
    .option('--each-variant', 'then run them again with each kernel variant that they could take forced in turn')
    .option('--html <file>', 'write a page to read in a browser; - writes to stdout and all else to stderr')
    .option('--json <file>', 'write the results as JSON; - writes to stdout and all else to stderr')
    .addHelpText('after', HELP)
    .action(async (options: ConformanceOptions) => {
      const { conformance, listCases } = await import('../commands/conformance.ts');
      if (options.list === true) finish(listCases(context.stdout, options));
      else finish(await conformance(await commandContext(context), options));
    });
}

import type { Command } from 'commander';
import type { FuzzOptions } from '../commands/fuzz.ts';
import { commandContext, type Finish, type ProgramContext } from '../context.ts';
import { EXIT_CODE_HELP } from '../exit-codes.ts';
import { addModuleOptions } from '../module-options.ts';
import { DEFAULT_FUZZ_SECONDS, opsWithKernels, positive, positiveInteger, seed } from '../option-values.ts';

const HELP = `
Examples:
  concord fuzz
  concord fuzz --backend cpu --seconds 60
  concord fuzz --op 'gemm*' --count 500
  concord fuzz --seed 12345 --count 500          the same calls again
  concord fuzz --programs --seconds 60           many steps that share memory
${EXIT_CODE_HELP}`;

/** Adds `concord fuzz`: random calls, compared with the oracle. */
export function addFuzzCommand(program: Command, context: ProgramContext, finish: Finish): void {
  addModuleOptions(program.command('fuzz'))
    .summary('look for wrong answers with random calls')
    .description(
      'Draws shapes, strides, offsets and values at random, compares the results with the float64 oracle, and reduces ' +
        'what fails to a small case with an id that can be run again. With --programs it draws streams of allocations, ' +
        'copies, calls, recordings and open reads, and prints the smallest program that fails as JavaScript.',
    )
    .option('--backend <name>', 'the backend to run (default: the one an application would get)')
    .option('--seconds <n>', `how long (default: ${DEFAULT_FUZZ_SECONDS}, or no limit with --count)`, positive)
    .option('--count <n>', 'how many calls, or programs', positiveInteger)
    .option('--seed <n>', 'where the random numbers start (default: a new seed, which is printed)', seed)
    .option('--op <glob>', "only these ops, such as 'gemm*'; a comma separates several", opsWithKernels)
    .option('--programs', 'whole programs in place of single calls')
    .option('--json <file>', 'write the results as JSON; - writes to stdout and all else to stderr')
    .addHelpText('after', HELP)
    .action(async (options: FuzzOptions) => {
      const { fuzz } = await import('../commands/fuzz.ts');
      finish(await fuzz(await commandContext(context), options));
    });
}

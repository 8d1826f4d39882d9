import { type Command, Option } from 'commander';
import { BENCH_SIZES } from '../bench/bench-ops.ts';
import type { TuneOptions } from '../commands/tune.ts';
import { commandContext, type Finish, type ProgramContext } from '../context.ts';
import { computedOps, positive } from '../option-values.ts';

const HELP = `
A backend has several kernels for each op and chooses between them by shape and
device. This measures all of them on this device, at a walk through the sizes,
and writes what was fastest to a file in the user's cache folder, from where
the backend takes it: for this device, driver and version only. What a call
computes stays the same. concord devices says whether there is such a profile;
CONCORD_TUNING=ignore goes without it, and deleting the file forgets it. With
--op the rest of a profile stays as it is. Another variant than the backend's
own choice is kept only if it wins several times in turn, by 3 % or more. It
takes some minutes, --size small some seconds; run nothing else meanwhile.

Examples:
  concord tune
  concord tune --op 'gemm*'
  concord tune --backend level-zero
  concord tune --dry-run --json -                measures and writes no profile

Exit codes:
  0    measured, and the profile is written
  1    a variant gave a wrong result or failed (it is not chosen), the profile
       cannot be written, or an unforeseen error
  2    wrong arguments
  3    the backend cannot be used here
  130  interrupted with Ctrl-C: the profile is as it was before`;

/** Adds `concord tune`: measures kernel variants and keeps what is fastest on this device. */
export function addTuneCommand(program: Command, context: ProgramContext, finish: Finish): void {
  program
    .command('tune')
    .summary('find the fastest kernels on this device, and keep them')
    .description('Measures the kernel variants of a backend on this device and writes a profile that it reads.')
    .option('--op <glob>', "only these ops, such as 'gemm*'; a comma separates several", computedOps)
    .option('--backend <name>', 'webgpu or level-zero (default: CONCORD_BACKEND, or the one with the better device)')
    .addOption(new Option('--size <size>', 'which shapes').choices(BENCH_SIZES).default('real'))
    .option('--seconds <n>', 'how long to measure each variant of each shape', positive, 0.1)
    .option('--dry-run', 'write no profile')
    .option('--json <file>', 'write what was measured as JSON; - writes to stdout and all else to stderr')
    .addHelpText('after', HELP)
    .action(async (options: TuneOptions) => {
      const { tune } = await import('../commands/tune.ts');
      finish(await tune(await commandContext(context), options));
    });
}

import { type Command, Option } from 'commander';
import { BENCH_SIZES } from '../bench/bench-ops.ts';
import type { BenchOptions } from '../commands/bench.ts';
import { commandContext, type Finish, type ProgramContext } from '../context.ts';
import { addModuleOptions } from '../module-options.ts';
import { positive, timedOps } from '../option-values.ts';

const HELP = `
Sizes:
  small   one or two small shapes of every op: some seconds, to see that all of
          it runs
  real    shapes of ResNet-50, BERT-base and GPT-2, vectors of millions: about
          a minute a backend

A speed is the median of rounds, each of as many calls as take 20 ms, with the
10th and 90th percentile beside it. The first call is timed apart. Results are
compared with the float64 oracle before and after. What would take a backend
too long is measured once or left out, and says so. Ctrl-C ends the run; what
was measured is printed and written.

Examples:
  concord bench
  concord bench --backend webgpu,cpu   the ratios are to the first
  concord bench --op 'gemm*,attention' --seconds 5
  concord bench --size small --json - | jq '.cases[] | { id, results }'
  concord bench --html bench.html      bars for every op, and a roofline for
                                       every backend

Exit codes:
  0    everything that could be measured is right
  1    a result is wrong, an op failed, a required backend is missing, or an
       unforeseen error
  2    wrong arguments
  3    no backend can be used, or one that --backend names cannot
  130  interrupted with Ctrl-C`;

/** Adds `concord bench`: how fast the backends are on this machine. */
export function addBenchCommand(program: Command, context: ProgramContext, finish: Finish): void {
  addModuleOptions(program.command('bench'))
    .summary('measure how fast the backends are')
    .description('Measures the ops on every backend that works here, side by side, in GFLOP/s and GB/s.')
    .option('--backend <names>', 'only these, with commas between several (default: all that can be used)')
    .option('--op <glob>', "only these ops, such as 'gemm*'; a comma separates several", timedOps)
    .addOption(new Option('--size <size>', 'what to measure').choices(BENCH_SIZES).default('real'))
    .option('--seconds <n>', 'how long to measure each case on each backend (default: 1, or 0.2 for small)', positive)
    .option('--html <file>', 'write a page with plots; - writes to stdout and all else to stderr')
    .option('--json <file>', 'write the results as JSON; - writes to stdout and all else to stderr')
    .addHelpText('after', HELP)
    .action(async (options: BenchOptions) => {
      const { bench } = await import('../commands/bench.ts');
      finish(await bench(await commandContext(context), options));
    });
}

import { type Command, Option } from 'commander';
import { BENCH_SIZES } from './bench/bench-ops.ts';
import type { BenchOptions } from './commands/bench.ts';
import type { ConformanceOptions } from './commands/conformance.ts';
import type { DevicesOptions } from './commands/devices.ts';
import type { FuzzOptions } from './commands/fuzz.ts';
import type { KernelOptions } from './commands/kernel.ts';
import type { ProfileOptions } from './commands/profile.ts';
import type { TuneOptions } from './commands/tune.ts';
import { commandContext, type Finish, type ProgramContext } from './context.ts';
import { EXIT_CODE_HELP } from './command-error.ts';
import {
  addModuleOptions,
  computedOps,
  DEFAULT_FUZZ_SECONDS,
  fraction,
  gathered,
  opsWithKernels,
  PROFILE_ROWS,
  positive,
  positiveInteger,
  seed,
  size,
  sizes,
  timedOps,
} from './option-values.ts';

/** Adds a subcommand to the program; `finish` gets the exit code that it ends with. Its module is loaded when it runs. */
export type AddCommand = (program: Command, context: ProgramContext, finish: Finish) => Command;

const DEVICES_HELP = `
Examples:
  concord devices
  concord devices --json
  concord devices --verbose             also builds every kernel variant, and
                                        says which do not build
  CONCORD_BACKEND=cpu concord devices   shows what that setting would pick

Exit codes:
  0    a backend can be used
  2    wrong arguments, or CONCORD_BACKEND names an unknown backend
  3    no backend can be used on this machine
  130  interrupted with Ctrl-C`;

const devices: AddCommand = (program, context, finish) =>
  program
    .command('devices')
    .summary('list the backends that work on this machine, and why others do not')
    .description('Opens every backend once and shows its device, or why it cannot be used and what to do about it.')
    .option('--json', 'print one JSON object instead of the table')
    .addHelpText('after', DEVICES_HELP)
    .action(async (_, command: Command) => {
      const { listDevices } = await import('./commands/devices.ts');
      finish(await listDevices(await commandContext(context), command.optsWithGlobals<DevicesOptions>()));
    });

const CONFORMANCE_HELP = `
Examples:
  concord conformance
  concord conformance --backend cpu --filter 'gemm/**'
  concord conformance --backend webgpu,cpu       both, side by side
  concord conformance --list --filter reduce     the ids of the cases
  concord conformance --bail                     stop at the first failure
  concord conformance --sample 0.1               a tenth, always the same cases
  concord conformance --module ./dist/index.js   your own backend
  concord conformance --backend level-zero --each-variant
  concord conformance --json report.json
  concord conformance --json - | jq '.cases[] | select(.status == "failed")'
  CONCORD_REQUIRE=webgpu concord conformance     a missing device is a failure
${EXIT_CODE_HELP}
With several backends, the worst of theirs: 1 before 3 before 0.`;

const conformance: AddCommand = (program, context, finish) =>
  addModuleOptions(program.command('conformance'))
    .summary('check that a backend gives the right answers')
    .description('Runs the conformance suite on a backend, or several, and compares with the float64 oracle.')
    .option('--backend <names>', 'the backends to run, separated by commas (default: the one an application would get)')
    .option('--filter <glob>', "only cases whose id matches: an op, a glob such as 'gemm/exact/**', or one id")
    .option('--sample <fraction>', 'only this fraction of them, always the same ones, and every fixed/ case', fraction)
    .addOption(
      new Option('--list', 'print the ids of the cases without running them').conflicts([
        'bail',
        'eachVariant',
        'json',
      ]),
    )
    .option('--bail', 'stop at the first failure')
    .option('--each-variant', 'then run the cases again with each kernel variant they could use, forced in turn')
    .option('--json <file>', 'write the results as JSON; - writes them to stdout, and everything else to stderr')
    .addHelpText('after', CONFORMANCE_HELP)
    .action(async (options: ConformanceOptions) => {
      const { conformance, listCases } = await import('./commands/conformance.ts');
      if (options.list === true) finish(listCases(context.stdout, options));
      else finish(await conformance(await commandContext(context), options));
    });

const FUZZ_HELP = `
Examples:
  concord fuzz
  concord fuzz --backend cpu --seconds 60
  concord fuzz --op 'gemm*' --count 500
  concord fuzz --seed 12345 --count 500          the same calls again
  concord fuzz --programs --seconds 60           many steps that share memory
${EXIT_CODE_HELP}`;

const fuzz: AddCommand = (program, context, finish) =>
  addModuleOptions(program.command('fuzz'))
    .summary('look for wrong answers with random calls')
    .description(
      'Draws shapes, strides, offsets and values at random, compares the results with the float64 oracle, and reduces ' +
        'a failure to a small case whose id you can run again. With --programs it draws streams of allocations, ' +
        'copies, calls, recordings and open reads, and prints the smallest program that fails as JavaScript.',
    )
    .option('--backend <name>', 'the backend to run (default: the one an application would get)')
    .option('--seconds <n>', `how long to run (default: ${DEFAULT_FUZZ_SECONDS}, or no limit with --count)`, positive)
    .option('--count <n>', 'how many calls, or programs, to draw', positiveInteger)
    .option('--seed <n>', 'seed of the random numbers (default: a new one, which is printed)', seed)
    .option('--op <glob>', "only these ops, such as 'gemm*'; separate several with commas", opsWithKernels)
    .option('--programs', 'draw whole programs instead of single calls')
    .option('--json <file>', 'write the results as JSON; - writes them to stdout, and everything else to stderr')
    .addHelpText('after', FUZZ_HELP)
    .action(async (options: FuzzOptions) => {
      const { fuzz } = await import('./commands/fuzz.ts');
      finish(await fuzz(await commandContext(context), options));
    });

const KERNEL_HELP = `
A kernel is a computation as data, made by defineKernel. With --shape, each
backend also says whether it runs such a call and, if it can tell, how: passes,
variants and generated code. Inputs and outputs are then dense, in their
declared types.

Examples:
  concord kernel ./dist/softmax.js
  concord kernel ./dist/kernels.js --export norm --shape 8,12,1024 --folded 1
  concord kernel kernel.json --shape 1000 --backend webgpu
  concord kernel ./dist/lookup.js --shape 100 --gather table=50000,64

Exit codes:
  0    the kernels were shown
  1    an unforeseen error
  2    wrong arguments, or the file has no such kernel
  3    none of the backends can be used here`;

const kernel: AddCommand = (program, context, finish) =>
  program
    .command('kernel')
    .summary('show what a kernel computes, and how backends run it')
    .description('Shows the graphs of the kernels that a module exports or a JSON file holds.')
    .argument('<file>', 'a JavaScript module that exports kernels, or a kernel as .json')
    .option('--export <name>', 'only this export (default: the default export, else all that are kernels)')
    .option('--shape <sizes>', 'explain a call over this domain, such as 8,12,64', sizes)
    .option('--folded <n>', 'how many of the last axes make a row', size)
    .option('--gather <name=sizes>', 'the shape of a gather input; may be repeated', gathered)
    .option('--backend <names>', 'ask these backends, separated by commas (default: all that work here)')
    .option('--json', 'print one JSON object instead of the text')
    .addHelpText('after', KERNEL_HELP)
    .action(async (file: string, options: KernelOptions) => {
      const { kernel } = await import('./commands/kernel.ts');
      finish(await kernel(await commandContext(context), file, options));
    });

const BENCH_HELP = `
Sizes:
  small   one or two small shapes of every op: a few seconds, to see that
          everything runs
  real    shapes of ResNet-50, BERT-base and GPT-2, vectors of millions: about
          a minute a backend

A speed is the median of rounds, each of as many calls as take 20 ms, with the
10th and 90th percentile. The first call is timed separately. Results are
compared with the float64 oracle before and after. A case that would take a
backend too long is measured once or skipped, and says so. Ctrl-C ends the run;
what was measured so far is printed and written.

Examples:
  concord bench
  concord bench --backend webgpu,cpu   ratios are relative to the first
  concord bench --op 'gemm*,attention' --seconds 5
  concord bench --size small --json - | jq '.cases[] | { id, results }'

Exit codes:
  0    everything that could be measured is right
  1    a result is wrong, an op failed, a required backend is missing, or an
       unforeseen error
  2    wrong arguments
  3    no backend can be used, or one that --backend names cannot
  130  interrupted with Ctrl-C`;

const bench: AddCommand = (program, context, finish) =>
  addModuleOptions(program.command('bench'))
    .summary('measure how fast the backends are')
    .description('Measures the ops on every backend that works here, side by side, in GFLOP/s and GB/s.')
    .option('--backend <names>', 'only these, separated by commas (default: all that can be used)')
    .option('--op <glob>', "only these ops, such as 'gemm*'; separate several with commas", timedOps)
    .addOption(new Option('--size <size>', 'which shapes to measure').choices(BENCH_SIZES).default('real'))
    .option('--seconds <n>', 'how long to measure each case on each backend (default: 1, or 0.2 for small)', positive)
    .option('--json <file>', 'write the results as JSON; - writes them to stdout, and everything else to stderr')
    .addHelpText('after', BENCH_HELP)
    .action(async (options: BenchOptions) => {
      const { bench } = await import('./commands/bench.ts');
      finish(await bench(await commandContext(context), options));
    });

const PROFILE_HELP = `
The file exports a function that receives an open backend:
  export default async function (backend) { ... }
Times are the device's if it reports them ("device"), else the host's if the
call itself does the work ("host"). Each launch is timed by itself; the first of
a kernel includes its compilation: see --warm-up.

Examples:
  concord profile ./dist/model.js
  concord profile ./dist/model.js --backend webgpu --by shape --warm-up 1
  concord profile ./dist/model.js --trace trace.json   for ui.perfetto.dev
  concord profile ./dist/model.js --json - | jq '.sums[] | { name, ms }'

Exit codes:
  0    the program ran
  1    the program failed, or an unforeseen error; what ran until then is shown
  2    wrong arguments, or a file that cannot be loaded
  3    the backend cannot be used here
  130  interrupted with Ctrl-C; what ran until then is shown and written`;

const profile: AddCommand = (program, context, finish) =>
  program
    .command('profile')
    .summary('show what a program launches, and how long it takes')
    .description('Runs a program on a backend and shows each launch: what it was, its time, its bytes and operations.')
    .argument('<file>', 'a module that exports a function of a backend')
    .option('--export <name>', 'which export to run', 'default')
    .option('--backend <name>', 'the backend to run it on (default: the one an application would get)')
    .addOption(new Option('--by <what>', 'what each row of the table stands for').choices(PROFILE_ROWS).default('op'))
    .option('--roofline', 'first measure what the device can reach, and show shares of that')
    .option('--warm-up <n>', 'runs before the one that is profiled', positiveInteger, 0)
    .option('--json <file>', 'write the profile as JSON; - writes it to stdout, and everything else to stderr')
    .option('--trace <file>', 'write a trace for Perfetto or chrome://tracing; - writes to stdout')
    .addHelpText('after', PROFILE_HELP)
    .action(async (file: string, options: ProfileOptions) => {
      const { profile } = await import('./commands/profile.ts');
      finish(await profile(await commandContext(context), file, options));
    });

const TUNE_HELP = `
A backend has several kernels for each op and chooses between them by shape and
device. This command measures all of them on this device, over a range of sizes,
and writes the fastest to a file in the user's cache folder. The backend reads
it for this device, driver and version only. Results stay the same. concord
devices says whether there is such a profile; CONCORD_TUNING=ignore ignores it,
and deleting the file removes it. With --op the rest of the profile is kept. A
variant replaces the backend's own choice only if it wins several times in a
row, by 3 % or more. It takes some minutes, or seconds with --size small; run
nothing else meanwhile.

Examples:
  concord tune
  concord tune --op 'gemm*'
  concord tune --backend level-zero
  concord tune --dry-run --json -                measures, but writes no profile

Exit codes:
  0    measured, and the profile is written
  1    a variant gave a wrong result or failed (it is not chosen), the profile
       cannot be written, or an unforeseen error
  2    wrong arguments
  3    the backend cannot be used here
  130  interrupted with Ctrl-C: the profile is as it was before`;

const tune: AddCommand = (program, context, finish) =>
  program
    .command('tune')
    .summary('find the fastest kernels on this device, and keep them')
    .description('Measures the kernel variants of a backend on this device and writes a profile that it reads.')
    .option('--op <glob>', "only these ops, such as 'gemm*'; separate several with commas", computedOps)
    .option('--backend <name>', 'webgpu or level-zero (default: CONCORD_BACKEND, or the one with the better device)')
    .addOption(new Option('--size <size>', 'which shapes to measure').choices(BENCH_SIZES).default('real'))
    .option('--seconds <n>', 'how long to measure each variant of each shape', positive, 0.1)
    .option('--dry-run', 'write no profile')
    .option('--json <file>', 'write the results as JSON; - writes them to stdout, and everything else to stderr')
    .addHelpText('after', TUNE_HELP)
    .action(async (options: TuneOptions) => {
      const { tune } = await import('./commands/tune.ts');
      finish(await tune(await commandContext(context), options));
    });

/** Every subcommand. */
export const COMMANDS: readonly AddCommand[] = [...[devices, conformance, fuzz, kernel, bench, profile, tune]];

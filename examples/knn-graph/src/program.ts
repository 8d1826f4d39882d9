import { resolve } from 'node:path';
import {
  backendOption,
  checkBackendNames,
  type CommandContext,
  EXIT,
  integer,
  newCommand,
} from '@concord/example-command';
import { runCommand, UserError, verboseOption } from '@concord/example-command';
import cliProgress from 'cli-progress';
import type { Command } from 'commander';
import { buildGraph } from './build.ts';
import { checkGraph } from './check.ts';
import { openCorpus } from './corpus.ts';
import { saveGraph } from './neighbours.ts';
import { makePlan } from './plan.ts';
import { type Progress, RunStore } from './run-store.ts';
import { runWorker, type WorkerOptions } from './worker.ts';

type BuildOptions = Omit<WorkerOptions, 'corpus'> &
  Readonly<{ corpus: string; out: string; k: number; tile?: number; shard: number; workers: number; via?: string }> &
  Partial<Record<'restart' | 'check' | 'json', boolean>>;
const MAX_ROWS = 2 ** 32 - 1;
const CHECKED_VECTORS = 16;
const HELP = `
Examples:
  knn-graph build --corpus corpus.safetensors --out graph.safetensors --check
  knn-graph worker --redis redis://queue:6379
Exit codes: 0 done; 1 --check found wrong neighbours, or an unforeseen error; 2 wrong arguments, no Redis, or work that cannot
go on (one line says why); 3 no backend can be used on this machine; 130 interrupted with Ctrl-C.`;

/** Runs the command line, `args` without interpreter and script, and gives its exit code. */
export function runProgram(args: readonly string[], context: CommandContext): Promise<number> {
  let run = async (): Promise<number> => EXIT.ok;
  const command = newCommand('knn-graph', HELP, context).description(
    'The k nearest neighbours of each vector of a corpus, exactly, on all machines that take part.',
  );
  const add = <T>(name: string, description: string, action: (options: T) => Promise<number>): Command =>
    command
      .command(name)
      .description(description)
      .addOption(verboseOption())
      .action((options: T) => {
        run = () => action(options);
      });
  const inRedis = (each: Command): Command =>
    each
      .option(
        '--redis <url>',
        'the Redis that hands out the tiles',
        process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379',
      )
      .option('--name <name>', 'of the graph, where one Redis serves several', 'default');
  const computing = (each: Command): Command =>
    inRedis(each)
      .addOption(backendOption())
      .option('--memory <MiB>', 'of a device, for shards of the corpus', integer(1, 2 ** 20), 1024)
      .option('--lock <seconds>', 'until others get the tile of a worker that is gone', integer(1, 3600), 30);
  computing(add('build', 'makes the graph, or goes on with one', (options: BuildOptions) => build(options, context)))
    .requiredOption('--corpus <file>', 'safetensors with one matrix of F32, [vectors, dimensions]')
    .requiredOption('--out <file>', 'safetensors: neighbours U32 and scores F32, [vectors, k]')
    .option('--k <n>', 'neighbours of each vector', integer(1, 255), 10)
    .option('--workers <n>', 'to start here; 0: others do the work', integer(0, 256), 1)
    .option('--via <command>', 'starts each worker, {n} is its number: "taskset -c {n}"')
    .option('--tile <rows>', 'vectors that a worker does at a time (default: up to 4096)', integer(1, MAX_ROWS))
    .option('--shard <rows>', 'vectors that go to the device at a time', integer(1, MAX_ROWS), 32_768)
    .option('--restart', 'drop an unfinished graph of that name')
    .option('--check', `check ${CHECKED_VECTORS} vectors against the float64 oracle`)
    .option('--json', 'print JSON');
  computing(add('worker', 'computes tiles until Ctrl-C', (options: WorkerOptions) => work(options, context))).option(
    '--corpus <file>',
    'where the corpus is on this machine, if not where build found it',
  );
  inRedis(add('status', 'prints how far a graph is, as JSON', (options: WorkerOptions) => status(options, context)));
  return runCommand(command, args.length === 0 ? ['--help'] : args, context, () => run());
}

async function build(options: BuildOptions, context: CommandContext): Promise<number> {
  const { redis, name, out, workers: count, via, memory, lock, backend = [] } = options;
  checkBackendNames(backend);
  const { stdout, stderr, signal } = context;
  const corpus = await openCorpus(options.corpus);
  const store = await RunStore.open(redis, name);
  const format = '{bar} {value}/{total} tiles | {speed} M pairs/s | {left} | {workers} workers';
  // On a terminal a bar, elsewhere a line now and then.
  const stream = stderr as NodeJS.WriteStream;
  const bar = new cliProgress.SingleBar({
    stream,
    format,
    noTTYOutput: true,
    notTTYSchedule: 10_000,
    gracefulExit: false,
  });
  try {
    const plan = await makePlan(corpus, options, signal);
    if (options.restart === true) await store.clear();
    let first: { done: number; at: number } | undefined;
    const onProgress = ({ done, tiles, workers }: Progress): void => {
      if (first === undefined) bar.start(tiles, done, { speed: '0.0', left: 'time left unknown', workers });
      first ??= { done, at: performance.now() };
      const tilesPerSecond = ((done - first.done) * 1000) / (performance.now() - first.at);
      const left = tilesPerSecond > 0 ? `${Math.ceil((tiles - done) / tilesPerSecond)} s left` : 'time left unknown';
      const speed = ((tilesPerSecond * plan.tileRows * plan.vectors) / 1e6).toFixed(1);
      bar.update(done, { speed, left, workers });
    };
    const words = Object.entries({ redis, name, memory, lock, ...(backend.length > 0 && { backend }) });
    const local = { count, args: words.flatMap(([key, value]) => [`--${key}`, String(value)]), ...(via && { via }) };
    const { graph, seconds } = await buildGraph(store, plan, resolve(options.corpus), local, context, onProgress);
    bar.stop();
    await saveGraph(out, graph);
    const { vectors, k } = plan;
    const sample = new Set(
      Array.from({ length: CHECKED_VECTORS }, (_, n) => Math.floor((n * vectors) / CHECKED_VECTORS)),
    );
    const check = options.check === true ? await checkGraph(graph, corpus, plan, [...sample]) : undefined;
    await store.clear();
    const pairsPerSecond = Math.round(vectors ** 2 / seconds);
    const result = { out, vectors, k, seconds, pairsPerSecond, ...(check && { check }) };
    const speed = `${seconds.toFixed(1)} s, ${(pairsPerSecond / 1e6).toFixed(1)} M pairs/s`;
    const text = `${out}: ${k} neighbours of ${vectors} vectors in ${speed}\n`;
    stdout.write(options.json === true ? `${JSON.stringify(result)}\n` : text);
    if (check === undefined) return EXIT.ok;
    const outcome = check.wrong === 0 ? 'passed' : `failed: ${check.wrong} wrong`;
    const error = `off by ${check.largestError.toPrecision(2)} of ${check.allowed.toPrecision(2)} allowed`;
    stderr.write(`check ${outcome}: ${check.vectors} vectors against the float64 oracle, ${error}\n`);
    return check.wrong === 0 ? EXIT.ok : EXIT.failed;
  } finally {
    bar.stop();
    store.close();
    await corpus.close();
  }
}

async function work(options: WorkerOptions, context: CommandContext): Promise<number> {
  // Of Kubernetes, and the end of the process that started it: the tile under way is finished.
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  process.once('SIGTERM', stop).once('disconnect', stop);
  try {
    await runWorker(options, context, AbortSignal.any([context.signal, stopped.signal]));
    return EXIT.ok;
  } finally {
    // It would keep the process.
    if (process.connected) process.disconnect();
  }
}

async function status({ redis, name }: WorkerOptions, { stdout }: CommandContext): Promise<number> {
  const store = await RunStore.open(redis, name);
  try {
    const run = await store.run();
    if (run === undefined) throw new UserError('NO_RUN', `there is no unfinished graph "${name}" at ${redis}`);
    const { vectors, dimensions, k } = run.plan;
    stdout.write(
      `${JSON.stringify({ corpus: run.corpus, vectors, dimensions, k, ...(await store.progress(run.plan)) })}\n`,
    );
    return EXIT.ok;
  } finally {
    store.close();
  }
}

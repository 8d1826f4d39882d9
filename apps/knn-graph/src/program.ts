import { defineProgram, EXIT, integer, type Program, subcommand, UserError } from '@concord/example-command';
import type { Command } from 'commander';
import { build, type BuildOptions } from './build.ts';
import { RunStore } from './run-store.ts';
import { work, type WorkerOptions } from './worker.ts';

const REDIS = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';

const computing = (command: Command): Command =>
  command
    .option('--memory <MiB>', 'of a device, for shards', integer(1, 2 ** 20), 1024)
    .option('--lock <seconds>', 'until others get the tile of a worker that is gone', integer(1, 3600), 30);

/** Makes a graph, computes parts of it, or reports its progress. */
export const runProgram: Program = defineProgram({
  name: 'knn-graph',
  description: 'Finds the k nearest neighbours of each vector of a corpus, exactly, on all machines that take part.',
  examples: [
    'knn-graph build --corpus corpus.safetensors --out graph.safetensors',
    'knn-graph worker --redis redis://queue:6379',
  ],
  exitCodes: {
    failed: 'an unforeseen error',
    usage: 'wrong arguments, no Redis, or work that cannot continue (one line says why)',
  },
  define: (command) =>
    command
      .option('--redis <url>', 'the Redis that hands out the tiles', REDIS)
      .option('--name <name>', 'of the graph, where one Redis serves several', 'default'),
  commands: [
    subcommand<BuildOptions>(
      'build',
      'make the graph, or continue it',
      (_, options, context) => build(options, context),
      (command) =>
        computing(command)
          .requiredOption('--corpus <file>', 'safetensors with one matrix of F32, [vectors, dimensions]')
          .requiredOption('--out <file>', 'safetensors: neighbours U32 and scores F32, [vectors, k]')
          .option('--k <n>', 'neighbours of each vector', integer(1, 255), 10)
          .option('--workers <n>', 'to start here; 0: others do the work', integer(0, 256), 1)
          .option('--via <command>', 'starts each worker; {n} is its number, as in "taskset -c {n}"')
          .option('--tile <rows>', 'vectors that a worker does at a time (default: 64 to 1024)', integer(1, 2 ** 31))
          .option('--shard <rows>', 'vectors that go to the device at a time', integer(1, 2 ** 31), 16_384)
          .option('--restart', 'drop the unfinished graph of that name'),
    ),
    subcommand<WorkerOptions>(
      'worker',
      'compute tiles until Ctrl-C',
      (_, options, context) => work(options, context),
      (command) => computing(command).option('--corpus <file>', 'if not where build found it'),
    ),
    subcommand<WorkerOptions>('status', 'print the progress of a graph, as JSON', async (_, options, { stdout }) => {
      const { redis, name } = options;
      const store = await RunStore.open(redis, name);
      const run = await store.run();
      const progress = run && (await store.progress(run));
      store.redis.disconnect();
      if (run === undefined) throw new UserError('NO_RUN', `there is no unfinished graph "${name}" at ${redis}`);
      const { digests: _digests, ...plan } = run.plan;
      stdout.write(`${JSON.stringify({ corpus: run.corpus, ...plan, ...progress })}\n`);
      return EXIT.ok;
    }),
  ],
});

// @ts-check
// `measure.mjs --processes 1,2,4`: how fast a graph is built by that many workers, on a Redis and random vectors that it makes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CpuBackend } from '@concord/backend-cpu';
import { loadSafetensors } from '@concord/ops';
import { fileSource } from '@concord/ops/node';
import { openCorpus } from './dist/corpus.js';
import { checkGraph } from './test/check.mjs';
import { writeCorpus } from './test/corpora.mjs';
import { RedisServer } from './test/redis-server.mjs';

const HELP = `usage: node examples/knn-graph/measure.mjs [options] [-- options of knn-graph build]

  --processes <list>  how many workers, one run each (default 1,2,4)
  --vectors <n>       of the random corpus (default 40000)
  --dimensions <n>    of each (default 256)
  --pin               worker n on core n alone, where there are as many (taskset)
  --via <command>     starts each worker, {n} is its number, such as "examples/knn-graph/one-gpu.sh {n}"
  --check             check 16 vectors of each graph against the float64 oracle
  --json              print JSON

REDIS_SERVER_PATH names the redis-server to start.`;
const MAIN = join(import.meta.dirname, 'dist/main.js');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    processes: { type: 'string', default: '1,2,4' },
    vectors: { type: 'string', default: '40000' },
    dimensions: { type: 'string', default: '256' },
    pin: { type: 'boolean', default: false },
    via: { type: 'string' },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const counts = values.processes.split(',').map(Number);
const [vectors, dimensions] = [Number(values.vectors), Number(values.dimensions)];
if (values.help || ![vectors, dimensions, ...counts].every((number) => Number.isInteger(number) && number > 0)) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}

const folder = mkdtempSync(join(tmpdir(), 'knn-graph-'));
const [corpus, graph] = [join(folder, 'corpus.safetensors'), join(folder, 'graph.safetensors')];
try {
  const program = process.env['REDIS_SERVER_PATH'] || 'redis-server';
  const server = await RedisServer.start(program, folder).catch((/** @type {Error} */ { message }) => {
    throw new Error(`${message}; install it: apt install redis-server (Debian, Ubuntu), brew install redis (macOS)`);
  });
  try {
    await writeCorpus(corpus, vectors, dimensions);
    const runs = [];
    for (const processes of counts) {
      const run = { processes, ...build(processes, server.url), ...(values.check && { check: await check() }) };
      runs.push({ ...run, speedup: (runs[0] ?? run).seconds / run.seconds });
    }
    report(runs);
    if (runs.some((run) => (run.check?.wrong ?? 0) > 0)) process.exitCode = 1;
  } finally {
    await server.kill();
  }
} finally {
  rmSync(folder, { recursive: true });
}

/**
 * @param {number} processes
 * @param {string} redis
 * @returns {{ seconds: number, pairsPerSecond: number }}
 */
function build(processes, redis) {
  const pinned = values.pin && processes <= availableParallelism() ? 'taskset -c {n}' : undefined;
  const via = values.via ?? pinned;
  const files = ['--corpus', corpus, '--out', graph, '--redis', redis, '--workers', String(processes), '--json'];
  const args = [MAIN, 'build', ...files, ...(via ? ['--via', via] : []), ...positionals];
  const { stdout, status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (status !== 0) throw new Error(`build with ${processes} workers ended with ${status}`);
  return JSON.parse(String(stdout));
}

async function check() {
  const backend = await CpuBackend.create();
  const { neighbours, scores } = await loadSafetensors(backend, fileSource(graph));
  if (neighbours === undefined || scores === undefined) throw new Error('the graph has no neighbours');
  const lists = {
    vectors: /** @type {Uint32Array} */ (await neighbours.toArray()),
    scores: /** @type {Float32Array} */ (await scores.toArray()),
    width: neighbours.shape[1] ?? 0,
  };
  for (const each of [neighbours, scores]) each.dispose();
  await backend.dispose();
  const file = await openCorpus(corpus);
  const rows = [...new Set(Array.from({ length: 16 }, (_, n) => Math.floor((n * vectors) / 16)))];
  const result = await checkGraph(lists, file, rows);
  await file.close();
  return result;
}

/** @param {{ processes: number, seconds: number, pairsPerSecond: number, speedup: number, check?: { wrong: number } }[]} runs */
function report(runs) {
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown'}`;
  if (values.json) return console.log(JSON.stringify({ vectors, dimensions, machine, runs }));
  console.log(`${vectors} vectors of ${dimensions} numbers; ${machine}\n`);
  console.log('| processes | seconds | M pairs/s | against the first |\n|---|---|---|---|');
  for (const { processes, seconds, pairsPerSecond, speedup } of runs) {
    console.log(
      `| ${processes} | ${seconds.toFixed(1)} | ${(pairsPerSecond / 1e6).toFixed(1)} | ${speedup.toFixed(2)} x |`,
    );
  }
  if (values.check) console.log(`\ncheck: ${runs.reduce((sum, run) => sum + (run.check?.wrong ?? 0), 0)} wrong`);
}

// @ts-check
// `measure.mjs --processes 1,2,4`: how fast a graph is built by so many workers, on a Redis and random vectors of its own.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeCorpus } from './test/corpora.mjs';
import { RedisServer } from './test/redis-server.mjs';

const HELP = `usage: node examples/knn-graph/measure.mjs [options] [-- options of knn-graph build]

  --processes <list>  how many workers, one run each (default 1,2,4)
  --vectors <n>       of the random corpus (default 40000)
  --dimensions <n>    of each (default 256)
  --pin               worker n on core n alone, where there are as many (taskset)
  --via <command>     starts each worker, {n} is its number, such as "./one-gpu.sh {n}"
  --json              print JSON

REDIS_SERVER_PATH names the redis-server to start.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    processes: { type: 'string', default: '1,2,4' },
    vectors: { type: 'string', default: '40000' },
    dimensions: { type: 'string', default: '256' },
    pin: { type: 'boolean', default: false },
    via: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const { processes, vectors, dimensions, pin, via, json, help } = values;

async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'knn-graph-'));
  const server = await RedisServer.start(process.env['REDIS_SERVER_PATH'] || 'redis-server', folder);
  try {
    const corpus = join(folder, 'corpus.safetensors');
    await writeCorpus(corpus, Number(vectors), Number(dimensions));
    const counts = processes.split(',').map(Number);
    const rows = counts.map((count) => {
      const pinned = pin && count <= availableParallelism() ? 'taskset -c {n}' : undefined;
      const start = via ?? pinned;
      const files = ['--corpus', corpus, '--out', join(folder, 'graph.safetensors'), '--redis', server.url];
      const options = ['--workers', String(count), '--json', ...(start ? ['--via', start] : []), ...positionals];
      const main = join(fileURLToPath(new URL('.', import.meta.url)), 'dist/main.js');
      const stdio = /** @type {const} */ (['ignore', 'pipe', 'inherit']);
      const { stdout, status } = spawnSync(process.execPath, [main, 'build', ...files, ...options], { stdio });
      if (status !== 0) throw new Error(`build with ${count} workers ended with ${status}`);
      /** @type {{ seconds: number, pairsPerSecond: number }} */
      const { seconds, pairsPerSecond } = JSON.parse(String(stdout));
      return { processes: count, seconds, pairsPerSecond, start };
    });
    const [first] = rows;
    const table = rows.map((row) => ({ ...row, speedup: (first?.seconds ?? NaN) / row.seconds }));
    if (json)
      return console.log(JSON.stringify({ vectors: Number(vectors), dimensions: Number(dimensions), runs: table }));
    console.log(`${vectors} vectors of ${dimensions}, ${availableParallelism()} cores: ${cpus()[0]?.model}\n`);
    console.log('| processes | seconds | M pairs/s | against the first |\n|---|---|---|---|');
    for (const { processes: count, seconds, pairsPerSecond, speedup } of table) {
      const cells = [count, seconds.toFixed(1), (pairsPerSecond / 1e6).toFixed(1), `${speedup.toFixed(2)} x`];
      console.log(`| ${cells.join(' | ')} |`);
    }
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true });
  }
}

if (help) console.log(HELP);
else await measure();

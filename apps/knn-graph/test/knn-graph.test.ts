import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { CpuBackend } from '@concord/backend-cpu';
import { loadSafetensors, type Tensor } from '@concord/ops';
import { fileSource } from '@concord/ops/node';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeWithRedis } from '../../../software-devices/redis/describe-with-redis.mjs';
import { type Corpus, openCorpus } from '../src/corpus.ts';
import type { Neighbours } from '../src/neighbours.ts';
import { makePlan, type Plan } from '../src/plan.ts';
import { RunStore } from '../src/run-store.ts';
import { TileComputer } from '../src/tile-computer.ts';
import { checkGraph } from './check.mjs';
import { writeCorpus } from './corpora.mjs';
import { RedisServer } from './redis-server.mjs';

const ROOT = join(import.meta.dirname, '../../..');
const MAIN = 'apps/knn-graph/dist/main.js';
const LAVAPIPE = ['software-devices/vulkan/run.mjs', 'lavapipe', process.execPath];
const never = new AbortController().signal;

await describeWithRedis('knn-graph', (program) => {
  const folder = mkdtempSync(join(tmpdir(), 'concord-knn-'));
  const path = join(folder, 'corpus.safetensors');
  const out = join(folder, 'graph.safetensors');
  const started: ChildProcess[] = [];
  let server: RedisServer;
  let corpus: Corpus;

  beforeAll(async () => {
    server = await RedisServer.start(program, folder);
    await writeCorpus(path, 2000, 64);
    corpus = await openCorpus(path);
  });
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });
  afterAll(async () => {
    await corpus.close();
    await server.kill();
    rmSync(folder, { recursive: true });
  });

  /** The program as a process. */
  function run(
    args: readonly string[],
    runner: readonly string[] = [],
  ): { child: ChildProcess; ended: Promise<Ended> } {
    const all = [...runner, MAIN, ...args, '--redis', server.url];
    const child = spawn(process.execPath, all, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    started.push(child);
    const written = { stdout: '', stderr: '' };
    child.stdout.on('data', (text) => (written.stdout += text));
    child.stderr.on('data', (text) => (written.stderr += text));
    return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number, ...written })) };
  }
  const worker = (backend: string, name: string, runner?: readonly string[]): ReturnType<typeof run> =>
    run(['worker', '--backend', backend, '--name', name, '--lock', '1'], runner);

  async function until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await setTimeout(10);
  }

  /** The result of one undisturbed process. */
  async function undisturbed(plan: Plan): Promise<Neighbours> {
    const backend = await CpuBackend.create();
    const computer = new TileComputer(plan, await openCorpus(path), backend, 2 ** 20);
    const { tileRows, vectors: rows, k: width } = plan;
    const graph = { rows, width, scores: new Float32Array(rows * width), vectors: new Uint32Array(rows * width) };
    for (let tile = 0; tile * tileRows < rows; tile++) {
      const { scores, vectors } = await computer.compute(tile);
      graph.scores.set(scores, tile * tileRows * width);
      graph.vectors.set(vectors, tile * tileRows * width);
    }
    await computer.dispose();
    await backend.dispose();
    return graph;
  }

  /** The graph that a build has written. */
  async function written(): Promise<Neighbours> {
    await using backend = await CpuBackend.create();
    const loaded = await loadSafetensors(backend, fileSource(out));
    using neighbours = loaded['neighbours'] as Tensor;
    using scores = loaded['scores'] as Tensor;
    const [rows, width] = neighbours.shape as [number, number];
    const graph = { rows, width, scores: await scores.toArray(), vectors: await neighbours.toArray() };
    rmSync(out);
    return graph as Neighbours;
  }

  it('a worker is killed and Redis too: each tile is done, once, and the graph is the same', async () => {
    const plan = await makePlan(corpus, { k: 7, tile: 50, shard: 600 }, never);
    const store = await RunStore.open(server.url, 'killed');
    const [victim] = [worker('cpu', 'killed'), worker('cpu', 'killed')];
    await until(async () => (await store.queue.getWorkersCount()) === 2);
    const made = await store.begin(plan, path);
    await store.addTiles(made);
    await until(async () => (await store.progress(made)).done >= 4);
    victim?.child.kill('SIGKILL');
    await server.kill();
    await setTimeout(100);
    await server.start();
    const before = await store.progress(made);
    expect(before.done).toBeGreaterThanOrEqual(4);
    expect(before.done).toBeLessThan(before.tiles);
    await until(async () => (await store.progress(made)).done >= before.tiles);

    expect(await store.progress(made)).toEqual({ done: 40, tiles: 40, left: 0, failed: 0, workers: 1 });
    const jobs = await store.queue.getCompleted();
    expect(new Set(jobs.map(({ data }) => data.tile)).size).toBe(40);
    // The kill hit a tile: BullMQ gave it out again.
    expect(jobs.some(({ attemptsStarted, stalledCounter }) => attemptsStarted > 1 && stalledCounter > 0)).toBe(true);
    const graph = await store.graph(made);
    expect(graph).toEqual(await undisturbed(plan));
    expect(await checkGraph(graph, corpus, [...Array(200).keys()])).toMatchObject({ wrong: 0 });
    await store.clear();
    store.redis.disconnect();
  });

  it('workers on different backends make one graph, which is right', async () => {
    const plan = await makePlan(corpus, { k: 10, tile: 5, shard: 700 }, never);
    const store = await RunStore.open(server.url, 'mixed');
    const workers = [worker('cpu', 'mixed'), worker('wasm', 'mixed'), worker('webgpu', 'mixed', LAVAPIPE)];
    await until(async () => (await store.queue.getWorkersCount()) === workers.length);
    const made = await store.begin(plan, path);
    await store.addTiles(made);
    await until(async () => (await store.progress(made)).done === 400);
    const jobs = await store.queue.getCompleted();
    expect(new Set(jobs.map(({ processedBy }) => processedBy))).toEqual(new Set(['cpu', 'wasm', 'webgpu']));
    const graph = await store.graph(made);
    expect(await checkGraph(graph, corpus, [...Array(2000).keys()])).toMatchObject({ checked: 2000, wrong: 0 });
    for (const { child } of workers) child.kill('SIGTERM');
    for (const { ended } of workers) expect((await ended).code).toBe(0);
    await store.clear();
    store.redis.disconnect();
  });

  it('build is interrupted, refuses another run, goes on, and leaves nothing in Redis', async () => {
    const options = ['--corpus', path, '--out', out, '--backend', 'cpu', '--tile', '40', '--k', '5', '--lock', '1'];
    const store = await RunStore.open(server.url, 'default');
    const first = run(['build', ...options, '--workers', '2']);
    await until(async () => ((await store.queue.getJobCounts('completed'))['completed'] ?? 0) >= 3);
    first.child.kill('SIGINT');
    expect(await first.ended).toMatchObject({ code: 130, stdout: '' });
    const { ended: status } = run(['status']);
    const { done = 0, tiles, workers, left } = JSON.parse((await status).stdout) as Record<string, number>;
    expect({ tiles, workers, left }).toEqual({ tiles: 50, workers: 0, left: 50 - done });
    expect(done).toBeLessThan(50);

    const other = await run(['build', ...options, '--k', '6']).ended;
    expect(other).toMatchObject({ code: 2, stdout: '' });
    expect(other.stderr).toContain(`a graph of other vectors or options is unfinished: ${path}, {"vectors":2000,`);
    expect(other.stderr).toContain('"k":5,"tileRows":40,"shardRows":16384} (OTHER_RUN)\nhint: ');

    const again = await run(['build', ...options, '--workers', '1', '--json']).ended;
    expect(again).toMatchObject({ code: 0 });
    expect(JSON.parse(again.stdout)).toMatchObject({ vectors: 2000, k: 5 });
    // Tiles done before the interruption were not done again.
    expect(again.stderr).toMatch(new RegExp(`^.* ${done}/50 tiles `, 'm'));
    expect(await store.redis.keys(`${store.prefix}:*`)).toEqual([]);
    store.redis.disconnect();
    expect(await written()).toEqual(
      await undisturbed(await makePlan(corpus, { k: 5, tile: 40, shard: 16_384 }, never)),
    );
  });

  it('what is left of a run whose key is gone is not taken for tiles of the next one', async () => {
    const store = await RunStore.open(server.url, 'default');
    const options = ['--out', out, '--backend', 'cpu', '--tile', '40', '--k', '5', '--lock', '1'];
    const first = run(['build', '--corpus', path, ...options]);
    await until(async () => (await store.queue.getCompletedCount()) >= 3);
    first.child.kill('SIGINT');
    expect((await first.ended).code).toBe(130);
    const done = await store.queue.getCompletedCount();
    expect(done).toBeLessThan(50);
    await store.redis.unlink(`${store.prefix}:run`);

    const otherPath = join(folder, 'other.safetensors');
    await writeCorpus(otherPath, 2000, 64, 3);
    const next = await run(['build', '--corpus', otherPath, ...options]).ended;
    expect(next).toMatchObject({ code: 0 });
    expect(next.stderr).toMatch(/^.* 0\/50 tiles /m);
    expect(await store.redis.keys(`${store.prefix}:*`)).toEqual([]);
    store.redis.disconnect();
    const other = await openCorpus(otherPath);
    expect(await checkGraph(await written(), other, [...Array(2000).keys()])).toMatchObject({ wrong: 0 });
    await other.close();
  });

  it('build adds the tiles again when Redis has lost them', async () => {
    const store = await RunStore.open(server.url, 'default');
    const options = ['--corpus', path, '--out', out, '--backend', 'cpu', '--tile', '10', '--k', '5', '--lock', '1'];
    const building = run(['build', ...options]);
    await until(async () => (await store.queue.getCompletedCount()) >= 3);
    // In one step: the count is of what is lost.
    const [[, done]] = (await store.redis.multi().zcard(store.queue.toKey('completed')).flushall().exec()) as [
      [null, number],
    ];
    expect(done).toBeGreaterThanOrEqual(3);
    expect(done).toBeLessThan(200);
    expect(await building.ended).toMatchObject({ code: 0 });
    store.redis.disconnect();
    expect(await written()).toEqual(
      await undisturbed(await makePlan(corpus, { k: 5, tile: 10, shard: 16_384 }, never)),
    );
  });

  it('Ctrl-C ends a build and its worker while Redis is away', async () => {
    const store = await RunStore.open(server.url, 'away');
    const options = ['--corpus', path, '--out', out, '--backend', 'cpu', '--tile', '1', '--name', 'away'];
    const { child, ended } = run(['build', ...options]);
    await until(async () => (await store.queue.getCompletedCount()) >= 3);
    store.redis.disconnect();
    await server.kill();
    child.kill('SIGINT');
    // It waits for its worker. A worker that had to be killed would be in the output.
    const { code, stdout, stderr } = await ended;
    await server.start();
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr).not.toContain('ended: ');
  });

  it('a worker whose file is another one says so, and so does the build that is left without workers', async () => {
    const copy = join(folder, 'copy.safetensors');
    await writeCorpus(copy, 2000, 64, 2);
    const wrong = run(['worker', '--backend', 'cpu', '--corpus', copy]);
    const building = run(['build', '--corpus', path, '--out', out, '--workers', '0']);
    const { code, stderr } = await wrong.ended;
    expect(code).toBe(2);
    expect(stderr).toContain(
      'are not those that the graph was begun with (OTHER_CORPUS)\nhint: give all workers the same file',
    );
    building.child.kill('SIGINT');
    expect((await building.ended).code).toBe(130);
    const none = await run(['build', '--corpus', path, '--out', out, '--backend', 'level-zero', '--restart']).ended;
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(none.stderr).toContain('no worker is left, and 0 of 32 tiles are done (NO_WORKER)');
  });
});

/** The exit of a process, and its output. */
type Ended = Readonly<{ code: number; stdout: string; stderr: string }>;

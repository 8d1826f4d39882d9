import { randomUUID } from 'node:crypto';
import { UserError } from '@concord/example-command';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { fromBytes, type Neighbours } from './neighbours.ts';
import { type Plan, rangesOf } from './plan.ts';

/** A graph under way; `corpus` is where `build` found the file. Ids are never used twice. */
export type Run = Readonly<{ id: string; plan: Plan; corpus: string }>;
/** A tile to be computed, of the run of that id. */
export type TileJob = Readonly<{ run: string; tile: number }>;
/** The state of a run: `done` of `tiles` are finished, `left` are in the queue or under way. */
export type Progress = Readonly<Record<'done' | 'tiles' | 'left' | 'failed' | 'workers', number>>;

// How many of a set of jobs are of a run: others are there if a run was dropped while it was worked on.
const COUNT = `local n = 0 for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if id:find(ARGV[1], 1, true) == 1 then n = n + 1 end end return n`;
const RETRY = { attempts: 5, backoff: { type: 'exponential', delay: 1000 } }; // by whichever worker is free

/**
 * A run in Redis: the plan, and BullMQ's queue of tiles. A tile is finished and its result is there in the same step, or
 * neither; who finishes it a second time is refused.
 */
export class RunStore {
  readonly redis: Redis;
  readonly prefix: string;
  readonly queue: Queue<TileJob, string>;

  private constructor(redis: Redis, name: string) {
    [this.redis, this.prefix] = [redis, `knn-graph:${name}`];
    // Events have the result too, and are not read.
    this.queue = new Queue('tiles', { connection: redis, prefix: this.prefix, streams: { events: { maxLen: 10 } } });
    this.queue.on('error', () => undefined); // of the connection: commands wait until ioredis has opened it again
  }

  /** @throws {UserError} NO_REDIS; INVALID_ARGUMENT for a name whose keys could be those of others */
  static async open(url: string, name: string): Promise<RunStore> {
    const allowed = { hint: 'use letters, digits, ".", "_" and "-"' };
    if (!/^[\w.-]+$/.test(name)) throw new UserError('INVALID_ARGUMENT', `--name cannot be "${name}"`, allowed);
    const retryStrategy = (times: number): number => Math.min(times * 50, 1000);
    const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: null, retryStrategy });
    let reason = '';
    redis.on('error', ({ message }: Error) => (reason = message));
    await redis.connect().catch((cause: unknown) => {
      redis.disconnect();
      const hint = 'give --redis, or start one: redis-server --appendonly yes (Debian: apt install redis-server)';
      throw new UserError('NO_REDIS', `no Redis answers at ${url}: ${reason}`, { hint, cause });
    });
    return new RunStore(redis, name);
  }

  /** The run that is unfinished. */
  async run(): Promise<Run | undefined> {
    const text = await this.redis.get(`${this.prefix}:run`);
    return text === null ? undefined : JSON.parse(text);
  }

  /**
   * Begins a run, or finds it begun.
   *
   * @throws {UserError} OTHER_RUN where one of another corpus or with other parameters is unfinished
   */
  async begin(plan: Plan, corpus: string): Promise<Run> {
    await this.redis.set(`${this.prefix}:run`, JSON.stringify({ id: randomUUID(), plan, corpus }), 'NX');
    const found = await this.run();
    if (found && JSON.stringify(found.plan) === JSON.stringify(plan)) return found;
    const { digests: _, ...shown } = found?.plan ?? plan;
    const message = `a graph of other vectors or options is unfinished: ${found?.corpus}, ${JSON.stringify(shown)}`;
    const hint = 'give the same to go on with it, --restart to drop it, or another --name';
    throw new UserError('OTHER_RUN', message, { hint });
  }

  /** Adds the tiles that the queue does not have, and has failed ones tried again. */
  async addTiles({ id: run, plan }: Run): Promise<void> {
    // By its id BullMQ knows a tile that it has, finished or not.
    const jobs = rangesOf(plan, plan.tileRows).map((_, tile) => {
      return { name: 'tile', data: { run, tile }, opts: { ...RETRY, jobId: `${run}-${tile}` } };
    });
    for (let at = 0; at < jobs.length; at += 1000) await this.queue.addBulk(jobs.slice(at, at + 1000));
    await this.queue.retryJobs({ state: 'failed' });
  }

  /** The finished graph, `[vectors, k]`. */
  async graph({ id, plan }: Run): Promise<Neighbours> {
    const { vectors: rows, k: width } = plan;
    const graph = { rows, width, scores: new Float32Array(rows * width), vectors: new Uint32Array(rows * width) };
    for (const [tile, [from, to]] of rangesOf(plan, plan.tileRows).entries()) {
      const job = await this.queue.getJob(`${id}-${tile}`);
      const bytes = Buffer.from(job?.returnvalue ?? '', 'base64');
      if (bytes.length !== (to - from) * width * 8) throw new Error(`Redis has no result of tile ${tile}`);
      const { scores, vectors } = fromBytes(bytes, to - from);
      graph.scores.set(scores, from * width);
      graph.vectors.set(vectors, from * width);
    }
    return graph;
  }

  async progress({ id, plan: { vectors, tileRows } }: Run): Promise<Progress> {
    const left = await this.queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized');
    const count = (set: string): Promise<unknown> => this.redis.eval(COUNT, 1, this.queue.toKey(set), `${id}-`);
    const [done, failed] = (await Promise.all([count('completed'), count('failed')])) as [number, number];
    return { done, tiles: Math.ceil(vectors / tileRows), left, failed, workers: await this.queue.getWorkersCount() };
  }

  /** Forgets the run, all of it in one step. */
  async clear(): Promise<void> {
    const keys = [`${this.prefix}:run`];
    for await (const some of this.redis.scanStream({ match: `${this.prefix}:*` })) keys.push(...(some as string[]));
    await this.redis.unlink(keys);
  }
}

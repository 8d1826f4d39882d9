import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** A Redis on loopback whose data is in a folder, in an append-only file, as a run needs it. */
export class RedisServer {
  readonly url: string;
  readonly #args: readonly string[];
  readonly #program: string;
  #child: ChildProcess | undefined;

  private constructor(program: string, folder: string, port: number) {
    this.url = `redis://127.0.0.1:${port}`;
    this.#program = program;
    this.#args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', ''];
  }

  static async start(program: string, folder: string): Promise<RedisServer> {
    const socket = createServer().listen(0, '127.0.0.1');
    await once(socket, 'listening');
    const { port } = socket.address() as AddressInfo;
    await once(socket.close(), 'close');
    const server = new RedisServer(program, folder, port);
    await server.start();
    return server;
  }

  /** Starts it again. */
  async start(): Promise<void> {
    const child = spawn(this.#program, this.#args, { stdio: 'ignore' });
    this.#child = child;
    const redis = new Redis(this.url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
    redis.on('error', () => undefined);
    // Not before it has read its file.
    while ((await redis.ping().catch(() => 'LOADING')) !== 'PONG') await setTimeout(20);
    redis.disconnect();
  }

  /** Ends it without a word, as a power cut does. */
  async kill(): Promise<void> {
    const ended = once(this.#child as ChildProcess, 'exit');
    this.#child?.kill('SIGKILL');
    await ended;
  }
}

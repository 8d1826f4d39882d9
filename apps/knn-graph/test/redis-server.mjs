// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** A Redis on loopback whose data is in a folder, in an append-only file, as a run needs it. */
export class RedisServer {
  #program;
  #args;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child;

  /**
   * @param {string} program
   * @param {string} folder
   * @param {number} port
   */
  constructor(program, folder, port) {
    this.url = `redis://127.0.0.1:${port}`;
    this.#program = program;
    this.#args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', ''];
  }

  /**
   * On a port that is free.
   *
   * @param {string} program
   * @param {string} folder
   */
  static async start(program, folder) {
    const socket = createServer().listen(0, '127.0.0.1');
    await once(socket, 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (socket.address());
    await once(socket.close(), 'close');
    const server = new RedisServer(program, folder, port);
    await server.start();
    return server;
  }

  /** Starts it again. */
  async start() {
    const child = spawn(this.#program, this.#args, { stdio: 'ignore' });
    // Rejects where there is no such program.
    await once(child, 'spawn');
    this.#child = child;
    const redis = new Redis(this.url, { maxRetriesPerRequest: 0, retryStrategy: () => 20 });
    redis.on('error', () => undefined);
    // Not before it has read its file.
    while ((await redis.ping().catch(() => 'LOADING')) !== 'PONG' && child.exitCode === null) await setTimeout(20);
    redis.disconnect();
    if (child.exitCode !== null) throw new Error(`${this.#program} ended with ${child.exitCode}`);
  }

  /** Ends it without a word, as a power cut does. */
  async kill() {
    if (this.#child === undefined) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CpuBackend } from '@concord/backend-cpu';
import { temporaryFolder } from '@concord/example-command/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type Answer, SearchIndex } from './search-index.ts';
import { batched, startServer } from './server.ts';

const FILES = 50;
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const { signal } = new AbortController();
const folder = temporaryFolder();
let backend: CpuBackend;
let index: SearchIndex;
let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  for (let n = 0; n < FILES; n++) {
    await writeFile(join(folder, `${n}.md`), `word${n} word${n} neighbour${n + 1} of all the rest`);
  }
  backend = await CpuBackend.create();
  index = new SearchIndex(backend, folder);
  await index.refresh(signal);
});
afterAll(() => backend.dispose());
beforeEach(async () => {
  server = await startServer(index, 0);
});
afterEach(async () => {
  await server.close();
  vi.restoreAllMocks();
});

interface Reply {
  readonly status: number | undefined;
  readonly body: Answer & { readonly error: { readonly code: string; readonly message: string } };
}

async function ask(
  body: string,
  { agent, ...others }: { agent?: Agent; [option: string]: unknown } = {},
): Promise<Reply> {
  const sent = request(`${server.url}/search`, { method: 'POST', agent: agent ?? false, ...others }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks = await response.toArray();
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) as Reply['body'] };
}

const collectGarbage = ((): (() => void) => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
})();

test('200 clients at once get right answers, by fewer products, and leave nothing behind', async () => {
  const search = index.search.bind(index);
  // As long as a product takes on a device: what comes meanwhile is the next batch.
  const products = vi.spyOn(index, 'search').mockImplementation(async (...args) => {
    await setTimeout(10);
    return search(...args);
  });
  const client = async (n: number, agent: Agent): Promise<void> => {
    for (let turn = 0; turn < 2; turn++) {
      const word = (n + turn * 7) % FILES;
      const { status, body } = await ask(JSON.stringify({ question: `word${word}`, top: 1 + (n % 3) }), { agent });
      expect(status).toBe(200);
      expect(body.hits).toMatchObject([{ file: `${word}.md`, line: 1 }]);
      expect(body.question).toBe(`word${word}`);
    }
  };
  const round = async (): Promise<{ heap: number; device: unknown }> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 200 });
    await Promise.all(Array.from({ length: 200 }, (_, n) => client(n, agent)));
    agent.destroy();
    const questions = products.mock.calls.reduce((sum, [batch]) => sum + batch.length, 0);
    expect(questions).toBe(400);
    expect(products.mock.calls.length).toBeLessThan(100);
    products.mockClear();
    collectGarbage();
    const { inUseBytes, liveAllocations } = backend.memory();
    return { heap: process.memoryUsage().heapUsed, device: { inUseBytes, liveAllocations } };
  };
  await round();
  const before = await round();
  await round();
  const after = await round();
  expect(after.device).toEqual(before.device);
  // 800 requests: not as much as 1,000 bytes of each.
  expect(after.heap - before.heap).toBeLessThan(800_000);
});

test('answers 5 hits unless told how many', async () => {
  const [five, two] = [await ask('{ "question": "rest" }'), await ask('{ "question": "rest", "top": 2 }')];
  expect([five, two].map(({ body }) => body.hits.length)).toEqual([5, 2]);
  expect(await ask('{ "question": "xylophone" }')).toMatchObject({ status: 200, body: { words: [], hits: [] } });
});

test.each([
  ['no JSON', 400, 'BAD_REQUEST', '{', {}],
  ['nothing', 400, 'BAD_REQUEST', '', {}],
  ['null', 400, 'BAD_REQUEST', 'null', {}],
  ['no question', 400, 'BAD_REQUEST', '{ "top": 3 }', {}],
  ['too many hits', 400, 'BAD_REQUEST', '{ "question": "word1", "top": 257 }', {}],
  ['half a hit', 400, 'BAD_REQUEST', '{ "question": "word1", "top": 0.5 }', {}],
  ['a long body', 413, 'TOO_LARGE', `{ "question": "${'x'.repeat(100_000)}" }`, {}],
  ['another path', 404, 'NOT_FOUND', '{}', { path: '/else' }],
  ['another method', 404, 'NOT_FOUND', '{}', { method: 'PUT' }],
  ['another name of this machine', 403, 'FORBIDDEN', '{}', { headers: { host: 'evil.example' } }],
])(
  '%s is an error with a code, and loses no request on the same connection',
  async (_, status, code, body, options) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const replies = await Promise.all([
      ask('{ "question": "word1" }', { agent }),
      ask(body, { agent, ...options }),
      ask('{ "question": "word2" }', { agent }),
    ]);
    agent.destroy();
    expect(replies.map((reply) => reply.status)).toEqual([200, status, 200]);
    expect(replies[1]?.body.error).toEqual({ code, message: expect.any(String) });
    expect(replies[2]?.body.hits[0]?.file).toBe('2.md');
  },
);

test('an error of the device is one of its batch, not of the next', async () => {
  vi.spyOn(index, 'search').mockRejectedValueOnce(Object.assign(new Error('lost'), { code: 'DEVICE_LOST' }));
  const error = { code: 'DEVICE_LOST', message: 'lost' };
  expect(await ask('{ "question": "word1" }')).toMatchObject({ status: 500, body: { error } });
  expect((await ask('{ "question": "word1" }')).status).toBe(200);
});

test('a request that does not arrive or is not answered in time is an error', async () => {
  const hasty = await startServer(index, 0, 100);
  const socket = connect(Number(new URL(hasty.url).port), '127.0.0.1');
  socket.write('POST /search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{');
  const chunks = await socket.toArray();
  expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1.1 408 .*"code":"TIMEOUT"/s);
  vi.spyOn(index, 'search').mockReturnValueOnce(new Promise(() => undefined));
  const response = await fetch(`${hasty.url}/search`, { method: 'POST', body: '{ "question": "word1" }' });
  expect(response.status).toBe(408);
  await hasty.close();
});

test('a client that leaves does no harm', async () => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST /search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{');
  socket.resetAndDestroy();
  expect((await ask('{ "question": "word1" }')).status).toBe(200);
});

test('close waits for the answers of requests that are there', async () => {
  const own = await startServer(index, 0);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const search = index.search.bind(index);
  const asked = vi.spyOn(index, 'search').mockImplementationOnce(async (...args) => {
    await held;
    return search(...args);
  });
  const answer = fetch(`${own.url}/search`, { method: 'POST', body: '{ "question": "word7" }' });
  await vi.waitFor(() => expect(asked).toHaveBeenCalled(), { timeout: 10_000 });
  const closed = own.close();
  release();
  expect(((await (await answer).json()) as Answer).hits[0]?.file).toBe('7.md');
  await closed;
});

/** Connections that have sent nothing, half of a request's headers, or a request whose answer they leave unread. */
async function openOddly(url: string): Promise<Socket[]> {
  const sockets = Array.from({ length: 300 }, () => connect(Number(new URL(url).port), '127.0.0.1'));
  await Promise.all(
    sockets.map(async (socket, n) => {
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      if (n % 3 === 1) socket.write('POST /search HTTP/1.1\r\nhost: lo');
      if (n % 3 === 2) socket.write('POST /search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}');
    }),
  );
  return sockets;
}

test('the process ends on Ctrl-C, whatever connections there are', async () => {
  const child = spawn(process.execPath, [MAIN, '--serve', '--dir', folder, '--backend', 'cpu'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [text] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const [url = ''] = /http:[^/]*\/\/[\d.:]+/.exec(text) ?? [];
  const sockets = await openOddly(url);
  const response = await fetch(`${url}/search`, { method: 'POST', body: '{ "question": "word1" }' });
  expect(response.status).toBe(200);
  const started = performance.now();
  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  expect(performance.now() - started).toBeLessThan(5_000);
  for (const socket of sockets) socket.destroy();
});

test('batches what comes during a batch, up to the largest', async () => {
  const batches: number[][] = [];
  const release: (() => void)[] = [];
  const ask = batched<number, number>(async (questions) => {
    batches.push(questions);
    await new Promise<void>((resolve) => release.push(resolve));
    return questions;
  }, 3);
  const first = ask(0);
  while (batches.length < 1) await new Promise(setImmediate);
  const others = [1, 2, 3, 4].map(ask);
  await new Promise(setImmediate);
  expect(batches).toEqual([[0]]);
  for (let done = 0; done < 3; done++) {
    while (release.length <= done) await new Promise(setImmediate);
    release[done]?.();
  }
  expect(await Promise.all([first, ...others])).toEqual([0, 1, 2, 3, 4]);
  expect(batches).toEqual([[0], [1, 2, 3], [4]]);
});

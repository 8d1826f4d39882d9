import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { WasmBackend } from '@concord/backend-wasm';
import { openModel, runProgram } from '../src/program.ts';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Decoder } from '../src/decoder.ts';
import { chatText, type ModelFiles, tokensOf } from '../src/model.ts';
import { serve } from '../src/serve.ts';

const model = 'small';
const ask = <More extends object>(content: string, more: More = {} as More) => {
  return { model, messages: [{ role: 'user' as const, content }], temperature: 0, max_tokens: 4, ...more };
};

describe('a server', () => {
  const clients = 64;
  const backend = new WasmBackend();
  let files: ModelFiles;
  let decoder: Decoder;
  let served: ReturnType<typeof serve>;
  let client: OpenAI;
  let url: string;

  beforeAll(async () => {
    await backend.init();
    files = await openModel(join(import.meta.dirname, '../model'));
    const signal = new AbortController().signal;
    decoder = await files.load(backend, { dtype: 'f32', signal, onProgress: () => undefined });
    served = serve(decoder, files, { name: model, size: 8, queue: clients });
    await new Promise<void>((resolve) => served.server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(served.server.address() as AddressInfo).port}/v1`;
    client = new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0 });
  });
  afterAll(async () => {
    served.server.close();
    served.server.closeAllConnections();
    await served.batch[Symbol.asyncDispose]();
    decoder.dispose();
    expect(backend.memory().liveAllocations).toBe(0);
    await backend.dispose();
  });

  test('answers as one text and as a stream, the same', async () => {
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual([model]);
    const whole = await client.chat.completions.create(ask('The fox was'));
    const [choice] = whole.choices;
    expect(choice?.message.content).toMatch(/\S/);
    expect(choice?.finish_reason).toBe('length');
    expect(whole.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 4 });
    const open = { model, messages: [{ role: 'user' as const, content: 'The fox was' }], max_completion_tokens: 2 };
    const drawn = await Promise.all([1, 2, 3, 4].map((seed) => client.chat.completions.create({ ...open, seed })));
    expect(drawn.map(({ usage }) => usage?.completion_tokens)).toEqual([2, 2, 2, 2]);
    expect(new Set(drawn.map(({ choices }) => choices[0]?.message.content)).size).toBeGreaterThan(1);
    let text = '';
    let reason: string | null | undefined;
    for await (const chunk of await client.chat.completions.create(ask('The fox was', { stream: true as const }))) {
      text += chunk.choices[0]?.delta.content ?? '';
      reason = chunk.choices[0]?.finish_reason;
    }
    expect(text).toBe(choice?.message.content);
    expect(reason).toBe(choice?.finish_reason);
  });

  test('many clients at once get their own texts, and memory does not grow', async () => {
    const prompts = Array.from(
      { length: clients },
      (__, i) => ['Once upon a time', 'Lily', 'The fox', 'One night'][i % 4] as string,
    );
    const alone = new Map<string, string | null | undefined>();
    for (const prompt of new Set(prompts)) {
      alone.set(prompt, (await client.chat.completions.create(ask(prompt))).choices[0]?.message.content);
    }
    const all = await Promise.all(prompts.map((prompt) => client.chat.completions.create(ask(prompt))));
    expect(all.map(({ choices }) => choices[0]?.message.content)).toEqual(prompts.map((prompt) => alone.get(prompt)));
    const { liveAllocations } = backend.memory();
    await Promise.all(prompts.slice(0, 12).map((prompt) => client.chat.completions.create(ask(prompt))));
    expect(backend.memory().liveAllocations).toBe(liveAllocations);
  });

  test('a client that leaves gives its place back', async () => {
    const left = new AbortController();
    const stream = await client.chat.completions.create(ask('The', { stream: true as const, max_tokens: 200 }), {
      signal: left.signal,
    });
    for await (const _chunk of stream) break;
    left.abort();
    expect((await client.chat.completions.create(ask('The'))).choices).toHaveLength(1);
  });

  test.each([
    ['no messages', { messages: [] }, 400, 'messages must be a list'],
    ['a wrong temperature', ask('x', { temperature: 3 }), 400, 'temperature must be a number from 0 to 2, got 3'],
    ['too long a prompt', ask('word '.repeat(400)), 400, 'tokens, the model takes 255'],
  ])('%s is refused', async (__, body, status, message) => {
    const response = await fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
    expect(response.status).toBe(status);
    expect(((await response.json()) as { error: { message: string } }).error.message).toContain(message);
  });

  test('a prompt that leaves no room for a token is refused', async () => {
    let content = 'a';
    const length = (): number => tokensOf(files, chatText(files, [{ role: 'user', content }])).length;
    while (length() < decoder.config.context) content += ' a';
    expect(length()).toBe(decoder.config.context);
    await expect(client.chat.completions.create(ask(content))).rejects.toMatchObject({ status: 400 });
    const least = await client.chat.completions.create(ask(content.slice(2)));
    expect(least.usage).toMatchObject({ completion_tokens: 1 });
  });

  test('what is no JSON, too large, or at another path is refused', async () => {
    const post = (path: string, body: string): Promise<Response> => fetch(`${url}${path}`, { method: 'POST', body });
    expect((await post('/chat/completions', '{')).status).toBe(400);
    expect((await post('/chat/completions', 'x'.repeat(2 ** 20))).status).toBe(400);
    expect((await post('/chat/completions', 'x'.repeat(2 ** 20 + 1))).status).toBe(413);
    expect((await post('/embeddings', '{}')).status).toBe(404);
    expect((await fetch(`${url}/chat/completions`)).status).toBe(405);
  });
});

test.each([0, 1])('of texts that come at once, those beyond a place and a queue of %i are refused', async (queue) => {
  await using backend = await WasmBackend.create();
  const files = await openModel(join(import.meta.dirname, '../model'));
  using decoder = await files.load(backend, {
    dtype: 'f32',
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  const { server, batch } = serve(decoder, files, { name: model, size: 1, queue });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
  const all = Array.from({ length: 6 }, () =>
    fetch(url, { method: 'POST', body: JSON.stringify(ask('The', { max_tokens: 100 })) }),
  );
  const statuses = (await Promise.all(all)).map(({ status }) => status);
  expect(statuses.sort((a, b) => a - b)).toEqual([
    ...Array<number>(1 + queue).fill(200),
    ...Array<number>(5 - queue).fill(429),
  ]);
  server.close();
  server.closeAllConnections();
  await batch[Symbol.asyncDispose]();
});

test('the command serves until Ctrl-C', async () => {
  const interrupt = new AbortController();
  let shown = '';
  const stdout = {
    write: (text: string) => {
      shown += text;
      void fetch(`${/http\S+v1/.exec(text)?.[0]}/models`).finally(() => interrupt.abort());
    },
  };
  const args = ['--backend', 'cpu', '--serve', '--port', '0'];
  const code = await runProgram(args, { stdout, stderr: { write: () => undefined }, signal: interrupt.signal });
  expect(shown).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1: Ctrl-C ends it\n$/);
  expect(code).toBe(0);
});

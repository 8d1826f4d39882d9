import { createReadStream, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCaptured, temporaryFolder } from '@concord/example-command/testing';
import { expect, test } from 'vitest';
import { runProgram } from './program.ts';

const [folder, cache] = [temporaryFolder(), temporaryFolder()];
const OWN_TOKENIZER = readFileSync(join(import.meta.dirname, '../model/tokenizer.json'));
const run = (...args: string[]): ReturnType<typeof runCaptured> =>
  runCaptured(runProgram, ['--backend', 'cpu', ...args]);

test('continues a text, and says how fast and on what', async () => {
  const { code, stdout, stderr } = await run('--tokens', '5', '--temperature', '0', 'Once upon a time');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^Once upon a time[ ,][^]*\n\n[1-5] tokens, [\d.]+ tokens\/s, prompt of 6 in [\d.]+ ms; cpu: CPU/,
  );
});

test('the same seed gives the same text, as JSON too', async () => {
  const args = ['--tokens', '6', '--top-k', '20', '--seed', '5', '--json', 'The driver'];
  const [one, two] = [await run(...args), await run(...args)];
  const { text, tokens, backend } = JSON.parse(one.stdout) as Record<string, unknown>;
  expect(backend).toBe('cpu');
  expect(tokens).toBeGreaterThan(0);
  expect(text).toBe((JSON.parse(two.stdout) as Record<string, unknown>)['text']);
});

test('a token is one character or a part of one', async () => {
  const { stdout } = await run('--tokens', '1', '--json', 'naïve → 数 🙂');
  expect((JSON.parse(stdout) as { prompt: string }).prompt).toBe('naïve → 数 🙂');
});

test.each([
  [['--dtype', 'i8', 'x'], /Allowed choices are f32, f16/],
  [[''], /the prompt is empty \(NO_PROMPT\)/],
  [['word '.repeat(300)], /the prompt has \d+ tokens, the model takes 255 \(TOO_LONG\)/],
  [['--chat', 'x'], /the model has no chat template \(NO_CHAT\)/],
  [['--model', tmpdir(), 'x'], /there is no .*tokenizer.json \(NO_MODEL\)\nhint: give a folder with config.json/],
  [['--model', import.meta.filename, 'x'], /program.test.ts: \S.* \(BAD_MODEL\)/],
  [['--model', '/nowhere', 'x'], /there is no \/nowhere \(NO_MODEL\)/],
])('%j is refused', async (args, message) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});

test.each([
  ['{', /config.json: is not JSON/],
  ['{"model_type": "bert"}', /is of the kind "bert"/],
  ['{"n_embd": 12}', /n_head must be a size, got undefined/],
  [
    '{"vocab_size": 9, "n_positions": 9, "n_embd": 12, "n_layer": 1, "n_head": 5}',
    /5 heads do not divide a width of 12/,
  ],
  ['{"vocab_size": 9, "n_positions": 9, "n_embd": 12, "n_layer": 1, "n_head": 3}', /cannot open .*model.safetensors/],
])('a config of %s is refused', async (config, message) => {
  writeFileSync(join(folder, 'tokenizer.json'), OWN_TOKENIZER);
  writeFileSync(join(folder, 'config.json'), config);
  const { code, stderr } = await run('--model', folder, 'x');
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test('a text ends before what it is to stop at', async () => {
  const args = ['--tokens', '40', '--seed', '2', '--json', 'The contract says'];
  const whole = JSON.parse((await run(...args)).stdout) as { text: string; tokens: number };
  const stop = whole.text.slice(-20, -16);
  const { text, tokens } = JSON.parse((await run(...args, '--stop', stop)).stdout) as typeof whole;
  expect(text).toBe(whole.text.slice(0, whole.text.indexOf(stop, 17)));
  expect(tokens).toBeLessThan(whole.tokens);
});

test('a model at a URL is fetched once with --cache, and is there without its server', async () => {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const file = join(import.meta.dirname, '../model', url);
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.writeHead(200, { etag: '"1"', 'content-length': statSync(file).size });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const model = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ['--model', model, '--cache', cache, '--backend', 'wasm', '--tokens', '3', '--json', 'The driver'];
  const first = await runCaptured(runProgram, args);
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(asked).toContain('/model.safetensors');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const again = await runCaptured(runProgram, args);
  const textIn = ({ stdout }: typeof first): unknown => (JSON.parse(stdout) as { text: string }).text;
  expect(textIn(again)).toBe(textIn(first));
});

test('Ctrl-C ends it', async () => {
  const interrupt = new AbortController();
  const stdout = { write: () => interrupt.abort() };
  const args = ['--backend', 'cpu', '--tokens', '200', 'A backend'];
  expect(await runProgram(args, { stdout, stderr: stdout, signal: interrupt.signal })).toBe(130);
});

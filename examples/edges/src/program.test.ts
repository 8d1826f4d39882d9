import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCaptured, temporaryFolder } from '@concord/example-command/testing';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { readPng } from './png-file.ts';
import { runProgram } from './program.ts';

const PICTURES = join(import.meta.dirname, '../pictures');
const SCENE = join(PICTURES, 'scene.png');
const folder = temporaryFolder();

const run = (args: readonly string[], signal?: AbortSignal) => runCaptured(runProgram, args, signal);

test('nothing done is the same picture, what is transparent on white', async () => {
  const png = new PNG({ width: 2, height: 1 });
  png.data = Buffer.from([10, 20, 30, 255, 10, 20, 30, 0]);
  const [from, to] = [join(folder, 'clear.png'), join(folder, 'white.png')];
  await writeFile(from, PNG.sync.write(png));
  const { code, stdout } = await run(['--no-edges', '--check', '--backend', 'cpu', from, to]);
  expect(code).toBe(0);
  expect(stdout).toContain('0 convolutions');
  expect([...(await readPng(to)).pixels]).toEqual([10, 20, 30, 255, 255, 255]);
});

test('as JSON, with the check', async () => {
  const out = join(folder, 'json.png');
  const { code, stdout } = await run(['--blur', '1', '--json', '--check', '--backend', 'cpu', SCENE, out]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ output: out, width: 320, height: 200, convolutions: 3, backend: 'cpu' },
    check: { different: 0 },
  });
});

test('what is wrong with a file is said in one line', async () => {
  const bytes = await readFile(SCENE);
  const flipped = Buffer.from(bytes);
  flipped[20_000] = (flipped[20_000] as number) ^ 0xff;
  const huge = Buffer.from(bytes);
  huge.writeUInt32BE(2 ** 31 - 1, 16);
  const empty = Buffer.from(bytes);
  empty.writeUInt32BE(0, 20);
  const cases: [name: string, content: Uint8Array | undefined, text: RegExp][] = [
    ['missing.png', undefined, /^error: cannot read \S+missing\.png: no such file or folder \(CANNOT_READ\)\n$/],
    ['text.png', Buffer.from('no picture'), /^error: \S+text\.png is no PNG \(NO_PNG\)\n$/],
    ['short.png', bytes.subarray(0, 20), /^error: \S+ is a damaged PNG: it ends in its header \(NO_PNG\)\n$/],
    ['cut.png', bytes.subarray(0, 20_000), /^error: \S+ is a damaged PNG: it ends too early \(NO_PNG\)\n$/],
    ['flipped.png', flipped, /^error: \S+ is a damaged PNG: its data is not what was once written \(NO_PNG\)\n$/],
    ['empty.png', empty, /^error: \S+ is a damaged PNG: it has no pixels \(NO_PNG\)\n$/],
    ['huge.png', huge, /^error: \S+ has 2147483647 x 200 pixels, more than 100 million \(TOO_LARGE\)\n$/],
  ];
  for (const [name, content, text] of cases) {
    const path = join(folder, name);
    if (content !== undefined) await writeFile(path, content);
    const ended = await run([path, join(folder, 'out.png')]);
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(text) });
  }
  const written = await run(['--backend', 'cpu', SCENE, join(folder, 'no', 'out.png')]);
  expect(written).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: cannot write \S+: no such .*\n$/) });
});

test('a blur too large is a wrong argument', async () => {
  expect(await run(['--blur', '4', 'a.png', 'b.png'])).toMatchObject({
    ...{ code: 2, stdout: '' },
    stderr: expect.stringContaining('It must be an integer from 0 to 3.'),
  });
});

test('ends without a word when it is interrupted', async () => {
  expect(await run([SCENE, join(folder, 'never.png')], AbortSignal.abort())).toEqual({
    code: 130,
    stdout: '',
    stderr: '',
  });
  await expect(readFile(join(folder, 'never.png'))).rejects.toThrow('ENOENT');
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';

// The built package, in its own process: whether that ends by itself is the question.
const INDEX = JSON.stringify(join(import.meta.dirname, '..', 'dist', 'index.js'));

const program = (ending: string): string => `
  const { pathToFileURL } = await import('node:url');
  const { CpuBackend } = await import(pathToFileURL(${INDEX}).href);
  const backend = new CpuBackend();
  await backend.init();
  const x = backend.alloc(16);
  backend.copyHtod(x, Float32Array.of(1, 2, 3, 4));
  backend.unary({ op: 'neg', n: 4, input: x, output: x });
  const got = new Float32Array(4);
  await backend.copyDtoh(got, x);
  await backend.synchronize();
  ${ending}
  console.log(got.join(' '));
`;

it.each([
  ['without dispose', ''],
  ['with dispose', 'await backend.dispose();'],
])('a process that uses the backend %s ends by itself', async (_, ending) => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program(ending)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Below the 60 s of a wait, whose timer must not keep the process alive.
    timeout: 50_000,
  });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect({ code, signal, output }).toEqual({ code: 0, signal: null, output: '-1 -2 -3 -4\n' });
});

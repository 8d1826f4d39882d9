import { describe, expect, it } from 'vitest';
import { runProgram } from './support/in-process.ts';

const negate = (mode: string): string => `
  const backend = new WasmBackend({ mode: '${mode}' });
  await backend.init();
  const x = backend.alloc(16);
  backend.copyHtod(x, Float32Array.of(1, 2, 3, 4));
  backend.unary({ op: 'neg', n: 4, input: x, output: x });
  const got = new Float32Array(4);
  await backend.copyDtoh(got, x);
`;

/** Seconds of work, in many commands. */
const LONG = `
  const y = backend.alloc(2 ** 26);
  for (let i = 0; i < 500; i++) backend.unary({ op: 'exp', n: 2 ** 24, input: y, output: y });
`;

describe.each(['threads', 'worker'])('a process that uses the backend in mode %s', (mode) => {
  it.each([
    ['without dispose', ''],
    ['with dispose', 'await backend.dispose();'],
    ['with work in flight', LONG],
    ['with work in flight, and dispose', `${LONG} await backend.dispose();`],
    ['with a wait that is not awaited', 'void backend.synchronize();'],
  ])('%s ends by itself, silently', async (_, ending) => {
    const ended = await runProgram(`${negate(mode)} ${ending} console.log(got.join(' '));`);
    expect(ended).toEqual({ code: 0, signal: null, stdout: '-1 -2 -3 -4\n', stderr: '' });
  });
});

it('a wait keeps the process alive', async () => {
  const ended = await runProgram(`
    ${negate('threads')}
    const y = backend.alloc(2 ** 24);
    for (let i = 0; i < 20; i++) backend.unary({ op: 'exp', n: 2 ** 22, input: y, output: y });
    await backend.synchronize();
    console.log('done');
  `);
  expect(ended).toMatchObject({ code: 0, stdout: 'done\n' });
});

it('threads that have nothing to do use no processor time', async () => {
  const { stdout } = await runProgram(`
    ${negate('threads')}
    await backend.synchronize();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);
  `);
  // One thread that turns in a loop would use all of the second.
  expect(Number(stdout)).toBeLessThan(200);
});

it('works in worker threads of the program', async () => {
  const inWorker = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { WasmBackend } = await import(workerData);
    ${negate('threads')}
    await backend.dispose();
    parentPort.postMessage(got.join(' '));
  `;
  const ended = await runProgram(`
    const { Worker } = await import('node:worker_threads');
    const run = () => new Promise((resolve, reject) => {
      const worker = new Worker(${JSON.stringify(inWorker)}, { eval: true, workerData: INDEX });
      let message;
      worker.on('message', (value) => { message = value; });
      worker.on('error', reject);
      worker.on('exit', () => resolve(message));
    });
    console.log((await Promise.all([run(), run()])).join('; '));
  `);
  expect(ended).toMatchObject({ code: 0, signal: null, stdout: '-1 -2 -3 -4; -1 -2 -3 -4\n' });
});

it.each(['threads', 'worker'])('mode %s: each of several reads under way keeps the process alive', async (mode) => {
  const ended = await runProgram(`
    ${negate(mode)}
    // Without a timer, which would keep it alive too.
    const LONG = { timeoutMs: Infinity };
    const y = backend.alloc(2 ** 24);
    const work = () => {
      for (let i = 0; i < 5; i++) backend.unary({ op: 'exp', n: 2 ** 22, input: y, output: y });
    };
    const first = backend.copyDtoh(new Float32Array(4), x, LONG).then(() => console.log('first'));
    work();
    const second = backend.copyDtoh(new Float32Array(2 ** 22), y, LONG).then(() => console.log('second'));
    work();
    const third = backend.copyDtoh(new Float32Array(2 ** 22), y, LONG).then(() => console.log('third'));
  `);
  expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect(ended.stdout.trim().split('\n').sort()).toEqual(['first', 'second', 'third']);
});

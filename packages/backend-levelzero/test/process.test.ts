import { expect, it } from 'vitest';
import { runProgram } from './support/in-process.ts';

const NEGATE = `
  const backend = new LevelZeroBackend();
  await backend.init();
  const x = backend.alloc(16);
  backend.copyHtod(x, Float32Array.of(1, 2, 3, 4));
  backend.unary({ op: 'neg', n: 4, input: x, output: x });
  const got = new Float32Array(4);
  await backend.copyDtoh(got, x);
`;

it.each([
  ['without dispose', ''],
  ['with dispose', 'await backend.dispose();'],
  ['with work in flight', 'backend.unary({ op: "exp", n: 4, input: x, output: x }); backend.flush();'],
  ['with a wait that is not awaited', 'void backend.synchronize();'],
])('a process that uses the backend %s ends by itself, silently', async (_, ending) => {
  const ended = await runProgram(`${NEGATE} ${ending} console.log(got.join(' '));`);
  expect(ended).toEqual({ code: 0, signal: null, stdout: '-1 -2 -3 -4\n', stderr: '' });
});

it('create, dispose, create again works', async () => {
  const ended = await runProgram(`
    for (let round = 0; round < 3; round++) {
      ${NEGATE}
      await backend.dispose();
      console.log(got.join(' '));
    }
  `);
  expect(ended).toMatchObject({ code: 0, stdout: '-1 -2 -3 -4\n'.repeat(3) });
});

it('importing the package loads nothing native', async () => {
  const ended = await runProgram(`
    levelZero();
    const { readFileSync } = await import('node:fs');
    const maps = readFileSync('/proc/self/maps', 'utf8');
    console.log(/koffi|ze_loader/.test(maps));
    await levelZero().probe();
    console.log(/koffi/.test(readFileSync('/proc/self/maps', 'utf8')));
  `);
  expect(ended).toMatchObject({ code: 0, stdout: 'false\ntrue\n' });
});

it('works in a worker thread, in several at once, and after they have ended', async () => {
  const inWorker = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { LevelZeroBackend } = await import(workerData);
    ${NEGATE}
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
    ${NEGATE}
    console.log(got.join(' '));
  `);
  expect(ended).toMatchObject({ code: 0, signal: null, stdout: '-1 -2 -3 -4; -1 -2 -3 -4\n-1 -2 -3 -4\n' });
});

import { expect, it } from 'vitest';
import { runProgram } from './support/in-process.ts';

const NEGATE = `
  const backend = new WebGpuBackend();
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
  ['after the loss of the device', 'backend.native.device.destroy(); await backend.lost;'],
])('a process that uses the backend %s ends by itself, silently', async (_, ending) => {
  const ended = await runProgram(`${NEGATE} ${ending} console.log(got.join(' '));`);
  expect(ended).toMatchObject({ code: 0, signal: null, stdout: '-1 -2 -3 -4\n' });
});

it('nothing is printed on stdout when the device refuses a command', async () => {
  const ended = await runProgram(`
    ${NEGATE}
    const { buffer } = backend.native.bufferOf(x);
    backend.native.encode((encoder) => encoder.copyBufferToBuffer(buffer, 2, buffer, 8, 4));
    await backend.synchronize().catch((error) => console.log(error.code));
  `);
  expect(ended).toMatchObject({ code: 0, stdout: 'DEVICE_ERROR\n' });
});

it('works in a worker thread, and in several at once', async () => {
  const inWorker = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { WebGpuBackend } = await import(workerData);
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
  `);
  expect(ended).toMatchObject({ code: 0, signal: null, stdout: '-1 -2 -3 -4; -1 -2 -3 -4\n' });
});

it('does not burn the main thread while it waits', async () => {
  // What the shaders burn is on other threads; polling shows in how often the event loop turns.
  const ended = await runProgram(`
    const backend = new WebGpuBackend();
    await backend.init();
    const n = 1024;
    const [a, b, c] = [0, 1, 2].map(() => backend.alloc(4 * n * n));
    backend.fill(a, 0, 4 * n * n);
    backend.fill(b, 0, 4 * n * n);
    await backend.synchronize();
    let turns = 0;
    const original = setImmediate;
    globalThis.setImmediate = (...args) => { turns++; return original(...args); };
    const mine = globalThis.setImmediate;
    for (let i = 0; i < 4; i++) backend.gemm({ m: n, n, k: n, a, b, c });
    const start = performance.now();
    await backend.synchronize();
    const ms = performance.now() - start;
    console.log(JSON.stringify({ ms, turns, restored: globalThis.setImmediate === mine }));
    await backend.dispose();
  `);
  const { ms, turns, restored } = JSON.parse(ended.stdout) as { ms: number; turns: number; restored: boolean };
  expect(restored).toBe(true);
  // In a tight loop it would be hundreds per millisecond, of which the first two are allowed to be eager.
  expect(ms).toBeGreaterThan(20);
  expect(turns / ms).toBeLessThan(50);
});

import { expect, it } from 'vitest';
import { describeProcesses, negate } from '../../backend-core/test/built-package.ts';
import { runProgram } from './support/in-process.ts';

describeProcesses(runProgram, 'new WebGpuBackend()', [
  ['after the loss of the device', 'backend.native.device.destroy(); await backend.lost;'],
]);

it('nothing is printed on stdout when the device refuses a command', async () => {
  const ended = await runProgram(`
    ${negate('new WebGpuBackend()')}
    const { buffer } = backend.native.bufferOf(x);
    backend.native.encode((encoder) => encoder.copyBufferToBuffer(buffer, 2, buffer, 8, 4));
    await backend.synchronize().catch((error) => console.log(error.code));
  `);
  expect(ended).toMatchObject({ code: 0, stdout: 'DEVICE_ERROR\n' });
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

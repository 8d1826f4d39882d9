import { expect, it } from 'vitest';
import { runProgram } from './support/in-process.ts';

// Each fault in its own process: the driver's switches are for a whole process.

const SETUP = `
  const report = (error) => console.log([error.code, error.reason, error.op, error.detail].filter(Boolean).join(' | '));
  const open = async (options) => {
    const backend = new LevelZeroBackend(options);
    await backend.init();
    return backend;
  };
`;
/** With `delayNext`: the next command takes that many nanoseconds longer. */
const DELAYED = `
  ${SETUP}
  const client = await LevelZeroClient.open();
  const slot = new BigUint64Array(1);
  const { api, koffi, driver } = client.native;
  api.zeDriverGetExtensionFunctionAddress(driver, new TextEncoder().encode('concordDelayNext\\0'), slot);
  const delayNext = koffi.decode(slot[0], koffi.proto('uint32_t', ['uint64_t']));
`;

it('a driver that does not start is unavailable, with a reason', async () => {
  const ended = await runProgram(
    `${SETUP} console.log(JSON.stringify(await levelZero().probe())); await open().catch(report);`,
    {
      LEVEL_ZERO_CPU_FAIL_INIT: '1',
    },
  );
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  const [probe = '', init] = ended.stdout.trim().split('\n');
  expect(JSON.parse(probe)).toMatchObject({
    available: false,
    reason: 'failed',
    message: expect.stringContaining('ZE_RESULT_ERROR_UNINITIALIZED (0x78000001)'),
    hint: expect.any(String),
  });
  expect(init).toMatch(/^BACKEND_UNAVAILABLE \| failed \| /);
});

it('a device that is lost in the middle', async () => {
  const ended = await runProgram(
    `
    ${SETUP}
    const backend = await open();
    const x = backend.alloc(4096);
    backend.fill(x, 0, 4096);
    await backend.synchronize();
    const waits = [];
    try {
      for (let i = 0; i < 40; i++) backend.unary({ op: 'exp', n: 1024, input: x, output: x });
      waits.push(backend.synchronize().catch(report), backend.copyDtoh(new Float32Array(1024), x).catch(report));
    } catch (error) { report(error); }
    await Promise.all(waits);
    console.log((await backend.lost).reason);
    try { backend.alloc(4); } catch (error) { report(error); }
    backend.free(x);
    await backend.dispose();
    console.log('disposed');
  `,
    { LEVEL_ZERO_CPU_LOSE_AFTER: '20' },
  );
  expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  const lines = ended.stdout.trim().split('\n');
  expect(lines.filter((line) => /^DEVICE_LOST \| .*ZE_RESULT_ERROR_DEVICE_LOST \(0x70000001\)/.test(line)).length).toBe(
    3,
  );
  expect(lines.slice(-3)[0]).toBe('device-lost');
  expect(lines.at(-1)).toBe('disposed');
});

it('out of memory is an error with numbers, and the pool is emptied before it', async () => {
  const ended = await runProgram(
    `
    ${SETUP}
    const backend = await open();
    const MiB = 2 ** 20;
    const held = [];
    try {
      for (;;) held.push(backend.alloc(20 * MiB));
    } catch (error) {
      console.log(error.code, error.requestedBytes === 20 * MiB, error.inUseBytes === held.length * 20 * MiB);
    }
    // All of it goes to the pool, in blocks that are too small for what is wanted next.
    for (const ptr of held) backend.fill(ptr, 1, 20 * MiB);
    for (const ptr of held) backend.free(ptr);
    console.log(backend.memory().pooledBytes >= 100 * MiB);
    const large = backend.alloc(60 * MiB);
    const other = backend.alloc(40 * MiB);
    backend.fill(large, 7, 60 * MiB);
    const got = new Uint8Array(2);
    await backend.copyDtoh(got, large);
    console.log(got.join(' '), backend.memory().liveAllocations);
    await backend.dispose();
  `,
    { LEVEL_ZERO_CPU_MEMORY: String(160 * 2 ** 20) },
  );
  expect(ended).toMatchObject({ code: 0, stdout: 'OUT_OF_MEMORY true true\ntrue\n7 7 2\n', stderr: '' });
});

it('a wait that times out says so, and a later one succeeds', async () => {
  const ended = await runProgram(`
    ${DELAYED}
    const backend = await open();
    const x = backend.alloc(4);
    backend.copyHtod(x, Float32Array.of(2));
    await backend.synchronize();
    delayNext(6e8);
    backend.unary({ op: 'neg', n: 1, input: x, output: x });
    await backend.synchronize({ timeoutMs: 50 }).catch(report);
    const got = new Float32Array(1);
    await backend.copyDtoh(got, x);
    console.log(got[0]);
    await backend.dispose();
    await client.dispose();
  `);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toBe('DEVICE_ERROR | synchronize | synchronize did not finish within 50 ms\n-2\n');
});

it('dispose in the middle of a long kernel ends within its 5 s, and the process too', async () => {
  const ended = await runProgram(`
    ${DELAYED}
    const backend = await open();
    const x = backend.alloc(4);
    backend.fill(x, 0, 4);
    await backend.synchronize();
    delayNext(8e9);
    backend.unary({ op: 'neg', n: 1, input: x, output: x });
    const wait = backend.synchronize().catch(report);
    const start = performance.now();
    await backend.dispose();
    await wait;
    console.log(performance.now() - start < 7500);
    process.exit(0);
  `);
  expect(ended).toMatchObject({ code: 0, stdout: 'DISPOSED\ntrue\n' });
});

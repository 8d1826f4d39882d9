import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeProcesses, negate, programsOf } from '../../backend-core/test/built-package.ts';

const runProgram = programsOf(join(import.meta.dirname, '..'), ['WasmBackend'], { timeoutMs: 50_000 });
const inMode = (mode: string): string => `new WasmBackend({ mode: '${mode}' })`;

/** Seconds of work, in many commands. */
const LONG = `
  const y = backend.alloc(2 ** 26);
  for (let i = 0; i < 500; i++) backend.unary({ op: 'exp', n: 2 ** 24, input: y, output: y });
`;

for (const mode of ['threads', 'worker']) {
  describeProcesses(runProgram, inMode(mode), [
    ['with much work in flight', LONG],
    ['with much work in flight, and dispose', `${LONG} await backend.dispose();`],
  ]);
}

it('a wait keeps the process alive', async () => {
  const ended = await runProgram(`
    ${negate(inMode('threads'))}
    const y = backend.alloc(2 ** 24);
    for (let i = 0; i < 20; i++) backend.unary({ op: 'exp', n: 2 ** 22, input: y, output: y });
    await backend.synchronize();
    console.log('done');
  `);
  expect(ended).toMatchObject({ code: 0, stdout: 'done\n' });
});

it('threads that have nothing to do use no processor time', async () => {
  const { stdout } = await runProgram(`
    ${negate(inMode('threads'))}
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

it.each(['threads', 'worker'])('mode %s: each of several reads under way keeps the process alive', async (mode) => {
  const ended = await runProgram(`
    ${negate(inMode(mode))}
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

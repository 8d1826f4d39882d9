// Work-groups that run at the same time, on two threads, do not see each other's Workgroup memory.
import { afterAll, beforeAll, expect, test } from 'vitest';

import { ITEMS, manyGroups } from './spirv/cases-many-groups.mjs';
import { assembleAll, compileEngine, runScript, temporaryFolder } from './spirv/harness.mjs';
import { decode } from './spirv/values.mjs';

const GROUPS = 4096;
const LAUNCHES = 200;

const { folder, done } = temporaryFolder('groups');
const count = GROUPS * ITEMS;
const launched = manyGroups.flatMap((one) => (one.kernels ?? ['main']).map((kernel) => ({ ...one, kernel })));
let ran = { output: '', errors: '' };
/** @type {string[]} what was said about each launched kernel */
let parts = [];

beforeAll(() => {
  const program = compileEngine(folder);
  const files = assembleAll(folder, launched);
  const script = launched.flatMap(({ kernel }, at) => [
    `module ${files[at]}`,
    `kernel ${kernel}`,
    'buffer 0 00000000',
    `buffer 1 ${'00'.repeat(count * 4)}`,
    `repeat ${LAUNCHES} ${GROUPS} 1 1 ${ITEMS} 1 1`,
    'read 0',
    'read 1',
  ]);
  ran = runScript(program, script, { LEVEL_ZERO_CPU_THREADS: '2' });
  parts = ran.output.split(/^module /m).slice(1);
});
afterAll(done);

test('all modules are built and launched', () => {
  expect(ran.errors).toBe('');
  expect(parts.map((part) => part.match(/^(repeat )?0x\w+/gm))).toEqual(launched.map(() => ['0x0', 'repeat 0x0']));
});

test.each(launched.map((one, at) => /** @type {const} */ ([`${one.name}: ${one.kernel}`, one, at])))(
  '%s',
  (_, { expected, localBytes }, at) => {
    const [wrong = '', results = ''] = [...(parts[at] ?? '').matchAll(/^read (.*)/gm)].map(([, hex]) => hex);
    expect(decode('i32', wrong)).toEqual([0]);
    const numbers = decode('i32', results);
    expect(numbers).toHaveLength(count);
    expect(numbers.filter((number, item) => number !== expected(item))).toEqual([]);
    expect(parts[at]).toMatch(new RegExp(`^info 0 0 0 ${localBytes} `, 'm'));
  },
);

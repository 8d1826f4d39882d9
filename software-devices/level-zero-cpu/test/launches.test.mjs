// Kernels of all names, and launches that cannot be.
import { rmSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { setUp } from '../setup.mjs';
import { buildProgram, makeFolder } from './programs.mjs';
import { assemble, assembleAll, runScript } from './spirv/harness.mjs';
import { moduleText } from './spirv/module.mjs';

const folder = makeFolder();
let program = '';
beforeAll(() => {
  expect(setUp()).toBe(true);
  program = buildProgram(folder, 'run-modules');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const store = 'OpStore %p0 #i32:1 Aligned 4';
const good = moduleText({ parameters: ['pg_i32'], body: store });

describe('a kernel may be called', () => {
  const names = [
    'a b',
    'a/b',
    '../../above',
    'x'.repeat(300),
    'y'.repeat(2000),
    'printf',
    'llvm.memcpy',
    '`id`;$(id)',
    'ünï',
    '1',
    '-o',
  ];
  /** @type {{ stdout: string, stderr: string }} */
  let ran;
  beforeAll(() => {
    const files = assembleAll(
      folder,
      names.map((name, at) => ({ name: `named ${at}`, text: good.replace('"main"', () => `"${name}"`) })),
    );
    const linesOf = (/** @type {string} */ name, /** @type {number} */ at) => [
      `module ${files[at]}`,
      `kernel ${name}`,
      'buffer 0 00000000',
      'launch 1 1 1 1 1 1',
      'read 0',
    ];
    ran = runScript(program, names.flatMap(linesOf));
  });
  test.each(names.map((name, at) => /** @type {const} */ ([name, at])))('%s', (_, at) => {
    expect(ran.stderr).toBe('');
    const answer = ran.stdout.split(/^module /m)[at + 1];
    expect(answer).toMatch(/^0x0[^]*kernel 0x0[^]*launch 0x0\nread 01000000\n$/);
  });
});

test('a module may have no kernel, several, and two names for one', () => {
  const file = (/** @type {string} */ name, /** @type {(text: string) => string} */ change) =>
    assemble(folder, name, change(good));
  const { stdout } = runScript(program, [
    `module ${file('none', (text) => text.replace(/OpEntryPoint.*\n/, ''))}`,
    'kernel main',
    `module ${file('twice', (text) => text.replace('OpEntryPoint', 'OpEntryPoint Kernel %main "other"\nOpEntryPoint'))}`,
    'kernel main',
    'buffer 0 00000000',
    'launch 1 1 1 1 1 1',
    'read 0',
    'kernel other',
    'buffer 0 00000000',
    'launch 1 1 1 1 1 1',
    'read 0',
  ]);
  expect(stdout.match(/^(module|kernel|launch|read) .*/gm)).toEqual([
    'module 0x0',
    'kernel 0x78000011',
    'module 0x0',
    ...Array(2).fill(['kernel 0x0', 'launch 0x0', 'read 01000000']).flat(),
  ]);
});

test('names and lines for debuggers do no harm', () => {
  const text = good
    .replace('%void =', 'OpName %main "exp"\nOpName %p0 "get_global_id"\n%void =')
    .replace(/(OpEntryPoint.*\n)/, '$1%file = OpString "kernel.cl"\nOpSource OpenCL_C 102000 %file\n')
    .replace('OpStore', 'OpLine %file 1 2\nOpStore')
    .replace('OpReturn', 'OpNoLine\nOpReturn');
  const { stdout } = runScript(program, [
    `module ${assemble(folder, 'debug', text)}`,
    'kernel main',
    'buffer 0 00000000',
    'launch 1 1 1 1 1 1',
    'read 0',
  ]);
  expect(stdout).toContain('read 01000000');
});

describe('a launch', () => {
  const launched = (/** @type {string} */ text, /** @type {string[]} */ ...launches) => {
    const file = assemble(folder, 'launch', text);
    const { stdout } = runScript(program, [
      `module ${file}`,
      'kernel main',
      'buffer 0 00000000',
      ...launches.map((line) => `launch ${line}`),
      'read 0',
    ]);
    return stdout.match(/^(launch|read) .*/gm);
  };
  test('of groups that are too large, or of no items', () => {
    expect(launched(good, '1 1 1 1025 1 1', '1 1 1 64 32 1', '1 1 1 0 1 1', '1 1 1 65536 65536 1')).toEqual([
      ...Array(4).fill('launch 0x78000013'),
      'read 00000000',
    ]);
  });
  test('of another group size than the kernel asks for', () => {
    const text = moduleText({ parameters: ['pg_i32'], body: store, modes: 'OpExecutionMode %main LocalSize 4 1 1' });
    expect(launched(text, '1 1 1 8 1 1', '1 1 1 4 1 1')).toEqual(['launch 0x78000013', 'launch 0x0', 'read 01000000']);
  });
  test('that needs more private or local memory than there is', () => {
    const large = (/** @type {string} */ storage, /** @type {string} */ pointer) =>
      moduleText({
        parameters: ['pg_i32'],
        ...(storage === 'Function'
          ? { variables: `%array = OpVariable %${pointer} Function` }
          : { declare: `%array = OpVariable %${pointer} Workgroup` }),
        body: `
          %id = OpLoad %v3i64 %builtin_LocalInvocationId
          %at = OpCompositeExtract %i64 %id 0
          %place = OpInBoundsAccessChain %${pointer.slice(0, 2)}_i32 %array %at
          OpStore %place #i32:5 Volatile|Aligned 4
          %y = OpLoad %i32 %place Volatile|Aligned 4
          OpStore %p0 %y Aligned 4`,
      });
    const OUT_OF_DEVICE_MEMORY = 'launch 0x70000003';
    expect(launched(large('Function', 'pf_a20000000_i32'), '1 1 1 4 1 1', '1 1 1 1 1 1')).toEqual([
      OUT_OF_DEVICE_MEMORY,
      'launch 0x0',
      'read 05000000',
    ]);
    expect(launched(large('Workgroup', 'pw_a20000000_i32'), '1 1 1 1 1 1')).toEqual([
      OUT_OF_DEVICE_MEMORY,
      'read 00000000',
    ]);
  });
  test('of no groups does nothing', () => {
    expect(launched(good, '0 1 1 1 1 1', '1 0 1 1 1 1')).toEqual(['launch 0x0', 'launch 0x0', 'read 00000000']);
  });
});

// @ts-check
// The driver under the real loader: the C programs of this folder as they are, under the loader's validation layer, and
// with AddressSanitizer and UndefinedBehaviorSanitizer in driver and program.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../vulkan/lib/system.mjs';
import { driver } from '../lib/cache.mjs';
import { buildDriver } from '../lib/make.mjs';
import { setUp } from '../setup.mjs';
import { assembleKernels, buildProgram, makeFolder, runProgram } from './programs.mjs';

const folder = makeFolder();
/** @type {ReturnType<typeof assembleKernels>} */
let kernels;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(() => {
  expect(setUp()).toBe(true);
  kernels = assembleKernels(folder);
});

const done = { status: 0, stdout: '', stderr: '' };
const MIB = 2 ** 20;
const memory = { LEVEL_ZERO_CPU_MEMORY: String(64 * MIB) };
const layer = { ZE_ENABLE_VALIDATION_LAYER: '1', ZE_ENABLE_PARAMETER_VALIDATION: '1' };
const parts = { LEVEL_ZERO_CPU_SUB_DEVICES: '2', LEVEL_ZERO_CPU_NO_SUBGROUPS: '1' };
const freed = 'a command uses memory that is freed, as if by a page fault (0x78000004)\n';

/** @typedef {{ name: string, args: () => string[], env?: Record<string, string>, expected?: typeof done }} Program */

/** @type {Program[]} */
const programs = [
  { name: 'properties', args: () => [kernels.probe] },
  { name: 'properties', args: () => [kernels.probe, '2', 'none'], env: parts },
  { name: 'errors', args: () => [kernels.probe] },
  { name: 'command-errors', args: () => [kernels.probe] },
  { name: 'memory', args: () => [], env: memory },
  { name: 'sync', args: () => [] },
  { name: 'launches', args: () => [kernels.probe] },
  { name: 'threads', args: () => [kernels.probe] },
  { name: 'chaos', args: () => [kernels.probe, '1'] },
  { name: 'chaos', args: () => [kernels.probe, '2'] },
  { name: 'loss', args: () => ['delayed', kernels.touch], expected: { ...done, stdout: 'concordLoseDevice\n' } },
  { name: 'loss', args: () => ['endless', kernels.touch], expected: { ...done, stdout: 'concordLoseDevice\n' } },
  {
    name: 'loss',
    args: () => ['counted', kernels.touch],
    env: { LEVEL_ZERO_CPU_LOSE_AFTER: '3' },
    expected: { ...done, stdout: 'LEVEL_ZERO_CPU_LOSE_AFTER\n' },
  },
  ...['freed', 'argument', 'indirect'].map((what) => ({
    name: 'loss',
    args: () => [what, kernels.touch],
    expected: { ...done, stdout: freed, stderr: `level-zero-cpu: the device is lost: ${freed}` },
  })),
];

const title = (/** @type {Program} */ { name, env }, /** @type {number} */ index) =>
  `${index}: ${name} ${Object.keys(env ?? {}).join(' ')}`;
const cases = programs.map((program, index) => ({ ...program, title: title(program, index) }));

describe('as it is', () => {
  test.each(cases)('$title', ({ name, args, env, expected = done }) => {
    expect(runProgram(buildProgram(folder, name), args(), driver, env)).toEqual(expected);
  });

  test('10,000 launches and 1,000 of each object leave nothing behind and do not grow', () => {
    const { status, stdout, stderr } = runProgram(buildProgram(folder, 'soak'), [kernels.probe], driver);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(Number(stdout)).toBeLessThan(8 * MIB);
  });
});

describe("under the loader's validation layer", () => {
  test.each(cases)('$title', ({ name, args, env, expected = done }) => {
    expect(runProgram(buildProgram(folder, name), args(), driver, { ...layer, ...env })).toEqual(expected);
  });
});

describe('with sanitizers', () => {
  const sanitizers = ['-fsanitize=address,undefined', '-fno-sanitize-recover=undefined', '-fno-omit-frame-pointer'];
  const sanitized = join(folder, 'sanitized');
  const checked = join(sanitized, 'libze_concord_cpu.so');
  const suppressions = join(sanitized, 'suppressions');
  const options = { LSAN_OPTIONS: `suppressions=${suppressions}:print_suppressions=0`, ASAN_OPTIONS: 'detect_leaks=1' };

  beforeAll(() => {
    mkdirSync(sanitized);
    // What PoCL and LLVM keep until the process ends.
    const kept = ['libpocl', 'libLLVM', 'libclang', 'libhwloc'].map((name) => `leak:${name}\n`);
    writeFileSync(suppressions, kept.join(''));
    buildDriver(checked, [...sanitizers, '-g']);
  });

  test.each(cases)('$title', ({ name, args, env, expected = done }) => {
    const program = buildProgram(sanitized, name, sanitizers);
    expect(runProgram(program, args(), checked, { ...options, ...env })).toEqual(expected);
  });
});

test('only what the loader asks for is exported', () => {
  const names = run('nm', ['-D', '--defined-only', driver])
    .trim()
    .split('\n')
    .map((line) => line.split(' ').at(-1));
  expect(names.filter((name) => !/^ze[st]?Get\w+ProcAddrTable$/.test(name ?? ''))).toEqual([]);
  expect(names).toHaveLength(53);
});

test('LEVEL_ZERO_CPU_FAIL_INIT fails zeInit, and a program that looks for GPUs finds none', () => {
  const program = buildProgram(folder, 'start');
  const start = (/** @type {string} */ flags, /** @type {Record<string, string>} */ env = {}) =>
    runProgram(program, [flags], driver, env).stdout;
  expect(start('0')).toBe('0x0 CPU 0\n');
  expect(start('0', { LEVEL_ZERO_CPU_FAIL_INIT: '1' })).toBe('0x78000001\n');
  expect(start('1')).toBe('0x78000001\n');
  expect(start('1', { LEVEL_ZERO_CPU_AS_GPU: '1' })).toBe('0x0 GPU 0\n');
});

test.each([
  ['', '0x0 CPU 0 part-1 part-2 part-3\n'],
  ['0', '0x0 CPU 0 part-1 part-2 part-3\n'],
  ['1', '0x0\n'],
  ['1,0.1', '0x0 CPU 2\n'],
  ['0.0,0.2', '0x0 CPU 0 part-1 part-3\n'],
  ['0.3', '0x0\n'],
  ['0.1,0', '0x0 CPU 0 part-1 part-2 part-3\n'],
  ['what', '0x0\n'],
])('ZE_AFFINITY_MASK=%s leaves %s', (mask, expected) => {
  const env = { ZE_AFFINITY_MASK: mask, LEVEL_ZERO_CPU_SUB_DEVICES: '3' };
  expect(runProgram(buildProgram(folder, 'start'), ['0'], driver, env).stdout).toBe(expected);
});

test('a setting that is no number is said to be ignored', () => {
  const { stdout, stderr } = runProgram(buildProgram(folder, 'start'), ['0'], driver, {
    LEVEL_ZERO_CPU_MEMORY: '1 GiB',
  });
  expect(stdout).toBe('0x0 CPU 0\n');
  expect(stderr).toBe('level-zero-cpu: LEVEL_ZERO_CPU_MEMORY=1 GiB is not a whole number; ignored\n');
});

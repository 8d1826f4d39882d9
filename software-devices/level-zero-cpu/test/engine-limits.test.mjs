// Many launches, many modules, many threads, damaged modules, and all of it under sanitizers.
import { execFileSync } from 'node:child_process';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { cases } from './spirv/all-cases.mjs';
import { assemble, compileEngine, differences, runCases, runScript, temporaryFolder } from './spirv/harness.mjs';

const { folder, done } = temporaryFolder('limits');
const named = (name) => cases.find((one) => one.name === name);
const module = (name) => assemble(folder, name, named(name).text, named(name).version);

let program = '';
beforeAll(() => {
  program = compileEngine(folder);
}, 120_000);
afterAll(done);

const arguments8 = ['buffer 0 0100000002000000', 'buffer 1 0000000000000000'];
const kibibytes = (output) => [...output.matchAll(/^memory (\d+)/gm)].map(([, number]) => Number(number));

test('10,000 launches leave nothing behind', () => {
  const { output } = runScript(program, [
    `module ${module('i32 add wraps')}`,
    'kernel main',
    ...arguments8,
    // As many as later on, as the commands that wait in the queue take memory, which stays with the process for the next ones.
    'repeat 10000 2 1 1 1 1 1',
    'memory',
    'repeat 10000 2 1 1 1 1 1',
    'memory',
    'read 1',
  ]);
  expect(output).toContain('read 6500000066000000');
  expect(output.match(/^repeat 0x0/gm)).toHaveLength(2);
  const [before, after] = kibibytes(output);
  expect(after - before).toBeLessThan(1024);
});

test('200 modules built, launched and released leave next to nothing behind', () => {
  const file = module('i32 add wraps');
  const { output } = runScript(program, [...arguments8, `cycle ${file} 20`, 'memory', `cycle ${file} 200`, 'memory']);
  expect(output.match(/^cycle 0x0/gm)).toHaveLength(2);
  const [before, after] = kibibytes(output);
  // PoCL keeps less than a kilobyte of each module.
  expect(after - before).toBeLessThan(1024);
}, 120_000);

test('threads with stacks of 128 KiB build and launch at the same time, and share a kernel', () => {
  const threads = compileEngine(folder, ['-O1'], 'engine-threads');
  const text = named('i32 add wraps').text.replace('OpConstant %i32 100', 'OpConstant %i32 1');
  const output = execFileSync(threads, [assemble(folder, 'plus one', text)], { encoding: 'utf8' });
  expect(output).toBe('right 120 of 120\n');
}, 120_000);

describe('damaged modules', () => {
  // From each topic, and from all over it; every one is damaged in as many ways.
  const WAYS = 50;
  const some = cases.filter((_, at) => at % 6 === 3).slice(0, 40);
  test(`${some.length * WAYS} of them are refused or built, and each refusal has words`, () => {
    expect(some).toHaveLength(40);
    const { output, errors, signal, status } = runScript(
      program,
      some.map((one, at) => `fuzz ${assemble(folder, one.name, one.text, one.version)} ${1000 + at} ${WAYS}`),
    );
    expect({ errors, signal, status }).toEqual({ errors: '', signal: null, status: 0 });
    const counts = [...output.matchAll(/^fuzz (\d+) (\d+) (\d+)/gm)].map((match) => match.slice(1).map(Number));
    expect(counts.flat().reduce((sum, count) => sum + count)).toBe(some.length * WAYS);
    // Neither is the damage always seen at once, nor never.
    const [built, , invalid] = [0, 1, 2].map((at) => counts.reduce((sum, row) => sum + row[at], 0));
    expect(built).toBeGreaterThan(20);
    expect(invalid).toBeGreaterThan(1000);
  }, 240_000);
});

describe('under AddressSanitizer and UndefinedBehaviorSanitizer', () => {
  const flags = ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all', '-fno-omit-frame-pointer'];
  const env = {
    // PoCL and LLVM keep their own memory until the process ends, so leaks are counted by the tests of growth above.
    ASAN_OPTIONS: 'detect_leaks=0:allocator_may_return_null=1',
    UBSAN_OPTIONS: 'print_stacktrace=1',
  };
  let watched = '';
  beforeAll(() => {
    watched = compileEngine(folder, flags);
  }, 240_000);

  test('a third of the features', () => {
    const some = cases.filter((_, at) => at % 3 === 0);
    const { answers, errors, signal } = runCases(watched, folder, some, env);
    expect({ errors, signal }).toEqual({ errors: '', signal: null });
    expect(some.flatMap((one, at) => differences(one, answers[at]))).toEqual([]);
  }, 240_000);

  test('damaged modules', () => {
    const some = cases.filter((_, at) => at % 16 === 5);
    const { output, errors, signal } = runScript(
      watched,
      some.map((one, at) => `fuzz ${assemble(folder, one.name, one.text, one.version)} ${at} 40`),
      env,
    );
    expect({ errors, signal }).toEqual({ errors: '', signal: null });
    expect(output.match(/^fuzz /gm)).toHaveLength(some.length);
  }, 240_000);
});

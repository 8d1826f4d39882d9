// Many launches, many modules, many threads; features and damaged modules under sanitizers.
import { execFileSync } from 'node:child_process';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { cases } from './spirv/all-cases.mjs';
import {
  assemble,
  assembleAll,
  compileEngine,
  differences,
  runCases,
  runScript,
  temporaryFolder,
} from './spirv/harness.mjs';

const { folder, done } = temporaryFolder('limits');
const addition = cases.filter((one) => one.name === 'i32 add wraps').map(({ text }) => text)[0] ?? '';
const module = () => assemble(folder, 'addition', addition);

let program = '';
beforeAll(() => {
  program = compileEngine(folder);
});
afterAll(done);

const arguments8 = ['buffer 0 0100000002000000', 'buffer 1 0000000000000000'];
/** Growth in KiB between the two times that memory was measured. */
const growth = (/** @type {string} */ output) => {
  const [before = Number.NaN, after = Number.NaN] = [...output.matchAll(/^memory (\d+)/gm)].map((match) =>
    Number(match[1]),
  );
  return after - before;
};

// What waits in the queue takes memory, which stays with the process for the next commands: so not all at once.
const batches = Array(20).fill('repeat 500 2 1 1 1 1 1');

test('10,000 launches leave nothing behind', () => {
  const { output } = runScript(program, [
    `module ${module()}`,
    'kernel main',
    ...arguments8,
    ...batches,
    'memory',
    ...batches,
    'memory',
    'read 1',
  ]);
  expect(output).toContain('read 6500000066000000');
  expect(output.match(/^repeat 0x0/gm)).toHaveLength(40);
  expect(growth(output)).toBeLessThan(1024);
});

test('100 modules built, launched and released leave next to nothing behind', () => {
  const file = module();
  const { output } = runScript(program, [...arguments8, `cycle ${file} 20`, 'memory', `cycle ${file} 100`, 'memory']);
  expect(output.match(/^cycle 0x0/gm)).toHaveLength(2);
  // PoCL keeps less than a kilobyte of each module.
  expect(growth(output)).toBeLessThan(512);
});

test('threads with stacks of 128 KiB build and launch at the same time, and share a kernel', () => {
  const threads = compileEngine(folder, ['-O1'], 'engine-threads');
  const text = addition.replace('OpConstant %i32 100', 'OpConstant %i32 1');
  const output = execFileSync(threads, [assemble(folder, 'plus one', text)], { encoding: 'utf8' });
  expect(output).toBe('right 120 of 120\n');
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
  });

  test('a sixth of the features', () => {
    const some = cases.filter((_, at) => at % 6 === 0);
    const { answers, errors, signal } = runCases(watched, folder, some, env);
    expect({ errors, signal }).toEqual({ errors: '', signal: null });
    expect(some.flatMap((one, at) => differences(one, answers[at]))).toEqual([]);
  });

  test('damaged modules', () => {
    const some = cases.filter((_, at) => at % 16 === 5);
    const { output, errors, signal } = runScript(
      watched,
      assembleAll(folder, some).map((file, at) => `fuzz ${file} ${at} 40`),
      env,
    );
    expect({ errors, signal }).toEqual({ errors: '', signal: null });
    expect(output.match(/^fuzz /gm)).toHaveLength(some.length);
  });
});

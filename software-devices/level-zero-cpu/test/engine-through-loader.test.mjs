// The features once more, and 2,000 damaged modules, through the real loader and the whole driver.
import { rmSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { driver } from '../lib/cache.mjs';
import { setUp } from '../setup.mjs';
import { buildProgram, makeFolder } from './programs.mjs';
import { cases } from './spirv/all-cases.mjs';
import { assembleAll, differences, runCases, runScript } from './spirv/harness.mjs';

const folder = makeFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let program = '';
const env = { ZE_ENABLE_ALT_DRIVERS: driver };
const layer = { ...env, ZE_ENABLE_VALIDATION_LAYER: '1', ZE_ENABLE_PARAMETER_VALIDATION: '1' };
beforeAll(() => {
  expect(setUp()).toBe(true);
  program = buildProgram(folder, 'engine-through-loader');
});

test.each([
  ['every feature', cases, env],
  ['a quarter of them under the validation layer', cases.filter((_, at) => at % 4 === 2), layer],
])(
  '%s: the numbers that they have to give',
  (_, some, settings) => {
    const { answers, errors, signal, status } = runCases(program, folder, some, settings);
    expect({ errors, signal, status }).toEqual({ errors: '', signal: null, status: 0 });
    expect(some.flatMap((one, at) => differences(one, answers[at]).map((line) => `${one.name}: ${line}`))).toEqual([]);
  },
  240_000,
);

describe('damaged modules', () => {
  // From all over the features; every one is damaged in as many ways.
  const WAYS = 50;
  const some = cases.filter((_, at) => at % 6 === 3).slice(0, 40);
  test(`${some.length * WAYS} of them are refused or built, and each refusal has words`, () => {
    expect(some).toHaveLength(40);
    const { output, errors, signal, status } = runScript(
      program,
      assembleAll(folder, some).map((file, at) => `fuzz ${file} ${1000 + at} ${WAYS}`),
      env,
    );
    expect({ errors, signal, status }).toEqual({ errors: '', signal: null, status: 0 });
    const counts = [...output.matchAll(/^fuzz (\d+) (\d+) (\d+)/gm)].map((match) => match.slice(1).map(Number));
    expect(counts.flat().reduce((sum, count) => sum + count)).toBe(some.length * WAYS);
    // Neither is the damage always seen at once, nor never.
    const [built, , invalid] = [0, 1, 2].map((at) => counts.reduce((sum, row) => sum + (row[at] ?? 0), 0));
    expect(built).toBeGreaterThan(20);
    expect(invalid).toBeGreaterThan(1000);
  });
});

// Every small feature of SPIR-V that kernels use, with the numbers it has to give, and damaged modules: through the real
// loader and the whole driver.
import { rmSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { setUp } from '../setup.mjs';
import { buildProgram, makeFolder } from './programs.mjs';
import { cases, casesByTopic } from './spirv/all-cases.mjs';
import { assembleAll, differences, runCases, runScript } from './spirv/harness.mjs';

const folder = makeFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let program = '';
const layer = { ZE_ENABLE_VALIDATION_LAYER: '1', ZE_ENABLE_PARAMETER_VALIDATION: '1' };
const lived = { stderr: '', status: 0 };
/** @type {ReturnType<typeof runCases>} */
let state;
beforeAll(() => {
  expect(setUp()).toBe(true);
  program = buildProgram(folder, 'run-modules');
  state = runCases(program, folder, cases);
}, 240_000);

test('the process lives until the end, and names are unique, as files are named after them', () => {
  expect(state).toMatchObject(lived);
  const names = cases.map(({ name }) => name.replaceAll(/\W+/g, '-'));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

for (const [title, some] of Object.entries(casesByTopic))
  describe(title, () => {
    test.each(some.map((one) => [one.name, one]))('%s', (_, one) => {
      expect(differences(one, state.answers[cases.indexOf(one)])).toEqual([]);
    });
  });

test('a quarter of them under the validation layer', () => {
  const some = cases.filter((_, at) => at % 4 === 2);
  const { answers, ...ran } = runCases(program, folder, some, layer);
  expect(ran).toEqual(lived);
  expect(some.flatMap((one, at) => differences(one, answers[at]).map((line) => `${one.name}: ${line}`))).toEqual([]);
});

describe('damaged modules', () => {
  // From all over the features; every one is damaged in as many ways.
  const WAYS = 50;
  const some = cases.filter((_, at) => at % 2 === 1).slice(0, 40);
  test(`${some.length * WAYS} of them are refused or built, and each refusal has words`, () => {
    expect(some).toHaveLength(40);
    const { stdout, ...ran } = runScript(
      program,
      assembleAll(folder, some).map((file, at) => `fuzz ${file} ${1000 + at} ${WAYS}`),
    );
    expect(ran).toEqual(lived);
    const counts = [...stdout.matchAll(/^fuzz (\d+) (\d+) (\d+)/gm)].map((match) => match.slice(1).map(Number));
    expect(counts.flat().reduce((sum, count) => sum + count)).toBe(some.length * WAYS);
    // Neither is the damage always seen at once, nor never.
    const [built, , invalid] = [0, 1, 2].map((at) => counts.reduce((sum, row) => sum + (row[at] ?? 0), 0));
    expect(built).toBeGreaterThan(20);
    expect(invalid).toBeGreaterThan(1000);
  });
});

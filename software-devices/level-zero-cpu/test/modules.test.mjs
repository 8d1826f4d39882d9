// Every small feature of SPIR-V that kernels use, with the numbers it has to give: through the real loader and the whole
// driver. Damaged modules are in driver.test.mjs, under sanitizers.
import { rmSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { setUp } from '../setup.mjs';
import { buildProgram, makeFolder } from './programs.mjs';
import { cases, casesByTopic } from './spirv/all-cases.mjs';
import { differences, runCases } from './spirv/harness.mjs';

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

// Every small feature of SPIR-V that kernels use, with the numbers it has to give.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { cases, casesByTopic } from './spirv/all-cases.mjs';
import { compileEngine, differences, runHalves, temporaryFolder } from './spirv/harness.mjs';

const { folder, done } = temporaryFolder('features');
/** @type {Awaited<ReturnType<typeof runHalves>>} */
let state;

beforeAll(async () => {
  state = await runHalves(compileEngine(folder), folder, cases);
});
afterAll(done);

test('the processes live until the end', () => {
  expect({ errors: state.errors, signals: state.signals, answers: state.answers.length }).toEqual({
    errors: '',
    signals: [null, null],
    answers: cases.length,
  });
});

test('names are unique, as files are named after them', () => {
  const names = cases.map(({ name }) => name.replaceAll(/\W+/g, '-'));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

for (const [title, some] of Object.entries(casesByTopic))
  describe(title, () => {
    test.each(some.map((one) => [one.name, one]))('%s', (_, one) => {
      expect(differences(one, state.answers[cases.indexOf(one)])).toEqual([]);
    });
  });

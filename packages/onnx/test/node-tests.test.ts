import { describe, expect, it } from 'vitest';
import { backendsOf, openBackend } from './support/open-backend.ts';
import { hasNodeTests, NODE_TESTS, nodeTests, type Outcome, runNodeTest } from './support/node-tests.ts';

if (!hasNodeTests) console.warn(`NOT RUN: ONNX's node tests: there is no ${NODE_TESTS} (Debian: libonnx-testdata)`);

/** Tests of ONNX 1.12 that nothing can pass, and why. */
const NOT_TO_BE_PASSED: readonly (readonly [RegExp, string])[] = [
  [/^test_cast_FLOAT_to_BFLOAT16$/, 'is cut to bfloat16, where ONNX since says rounded to the nearest'],
  [/^test_castlike_.*BFLOAT16/, 'gives a tensor of one element for an input of [3, 4]'],
  [/^test_bernoulli/, 'is of random numbers'],
];

describe.skipIf(!hasNodeTests)("ONNX's own node tests", () => {
  it.each(backendsOf('cpu,wasm'))('pass on %s, but for those of what is not supported', async (on) => {
    const backend = await openBackend(on);
    const only = new RegExp(process.env['ONNX_NODE_TESTS'] ?? '');
    const outcomes: Outcome[] = [];
    for (const name of nodeTests()) {
      if (only.test(name) && !NOT_TO_BE_PASSED.some(([which]) => which.test(name)))
        outcomes.push(await runNodeTest(backend, name));
    }
    await backend.dispose();
    const of = (state: Outcome['state']): Outcome[] => outcomes.filter((each) => each.state === state);
    const lines = outcomes
      .filter(({ state }) => state !== 'passed')
      .map(({ name, state, reason }) => `${state} ${name}: ${reason}`);
    console.log(
      `${lines.join('\n')}\npassed ${of('passed').length}, failed ${of('failed').length}, unsupported ${of('unsupported').length}`,
    );
    expect(of('failed')).toEqual([]);
    if (only.source === '(?:)') expect(of('passed').length).toBeGreaterThan(650);
  });
});

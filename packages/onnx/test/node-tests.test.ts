import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasNodeTests, NODE_TESTS, nodeTests, type Outcome, runNodeTest } from './support/node-tests.ts';

if (!hasNodeTests)
  console.warn(`NOT RUN: ONNX's node tests: there is no ${NODE_TESTS}; apt-get install libonnx-testdata`);

describe.skipIf(!hasNodeTests)("ONNX's own node tests", () => {
  let backend: ComputeBackend;
  beforeAll(async () => {
    backend = await CpuBackend.create();
    await backend.init();
  });
  afterAll(() => backend.dispose());

  it('pass, but for those of what is not supported', async () => {
    const only = process.env['ONNX_NODE_TESTS'];
    const outcomes: Outcome[] = [];
    for (const name of nodeTests().filter((each) => only === undefined || new RegExp(only).test(each))) {
      outcomes.push(await runNodeTest(backend, name));
    }
    const count = (state: Outcome['state']): number => outcomes.filter((each) => each.state === state).length;
    const lines = outcomes
      .filter(({ state }) => state !== 'passed')
      .map(({ name, state, reason }) => `${state} ${name}: ${reason}`);
    console.log(
      `${lines.join('\n')}\npassed ${count('passed')}, failed ${count('failed')}, unsupported ${count('unsupported')}`,
    );
    expect(outcomes.filter(({ state }) => state === 'failed')).toEqual([]);
  });
});

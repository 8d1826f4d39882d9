import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { checkedRun, defineKernel } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { evaluateRun } from '../../src/evaluate/evaluate-run.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const kernel = defineKernel('neg', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.neg(x) }));

describe("the evaluator's plan of a geometry", () => {
  it.each([
    ['ran', 256],
    ['could not, since an output was too short', 3],
  ])('keeps no memory of a call that %s', async (_, elements) => {
    const geometry = checkedRun(kernel, { shape: [256], inputs: {}, outputs: {} });
    const call = (): WeakRef<ArrayBuffer> => {
      const x = new Float32Array(256);
      const run = () => evaluateRun({ geometry, inputs: [x], outputs: [new Float32Array(elements)], params: [] });
      if (elements < 256) expect(run).toThrow(RangeError);
      else run();
      return new WeakRef(x.buffer);
    };
    const memory = call();
    // A WeakRef holds what it was made of until the task ends.
    await new Promise((resolve) => setTimeout(resolve));
    collect();
    expect(memory.deref()).toBeUndefined();
    expect(geometry.shape).toEqual([256]);
  });
});

import { memory } from '@concord/ops';
import { expect, it } from 'vitest';
import type { HostTensor } from '../src/graph/host-tensor.ts';
import { loadOnnx } from '../src/index.ts';
import { expectModelAsRuntime, Numbers } from './support/against-runtime.ts';
import { onBackends } from './support/backends.ts';
import { f32, graphProto, i64, modelBytes, node, type Parts, value } from './support/write-model.ts';

const numbers = new Numbers(3);
const bool = (truth: boolean): HostTensor => ({ type: 'bool', dims: [], data: Uint8Array.of(Number(truth)) });
const graph = (parts: Parts): { graph: ReturnType<typeof graphProto> } => ({ graph: graphProto(parts) });

/** A branch each that reads `x` from outside, by a condition that only the device knows. */
const branches = modelBytes({
  inputs: [value('x', 'float32', ['n'])],
  constants: { zero: f32([], [0]) },
  nodes: [
    node('ReduceSum', ['x'], ['sum'], { keepdims: 0 }),
    node('Greater', ['sum', 'zero'], ['isAbove']),
    node('If', ['isAbove'], ['y', 'z'], {
      then_branch: graph({
        inputs: [],
        nodes: [node('Add', ['x', 'x'], ['a']), node('Identity', ['sum'], ['b'])],
        outputs: ['a', 'b'],
      }),
      else_branch: graph({
        inputs: [],
        nodes: [node('Neg', ['x'], ['a']), node('Identity', ['zero'], ['b'])],
        outputs: ['a', 'b'],
      }),
    }),
  ],
  outputs: ['y', 'z'],
});

/** `state = state * x + turn` until the sum is large; each state and each turn are scan outputs. */
const loop = (count: string, condition: string): Uint8Array =>
  modelBytes({
    inputs: [value('x', 'float32', [2, 3]), value('count', 'int64', []), value('go', 'bool', [])],
    constants: { limit: f32([], [40]), one: f32([2, 3], [1, 1, 1, 1, 1, 1]) },
    nodes: [
      node('Loop', [count, condition, 'one'], ['last', 'states', 'turns'], {
        body: graph({
          inputs: [value('turn', 'int64', []), value('going', 'bool', []), value('state', 'float32', [2, 3])],
          nodes: [
            node('Cast', ['turn'], ['t'], { to: 1 }),
            node('Mul', ['state', 'x'], ['p']),
            node('Add', ['p', 't'], ['next']),
            node('ReduceSum', ['next'], ['sum'], { keepdims: 0 }),
            node('Less', ['sum', 'limit'], ['goes']),
            node('Identity', ['next'], ['seen']),
            node('Identity', ['turn'], ['at']),
          ],
          outputs: [
            value('goes', 'bool', []),
            value('next', 'float32', [2, 3]),
            value('seen', 'float32', [2, 3]),
            value('at', 'int64', []),
          ],
        }),
      }),
    ],
    outputs: ['last', 'states', value('turns', 'int64')],
  });

const scan = modelBytes({
  inputs: [value('start', 'float32', [2]), value('a', 'float32', [5, 2]), value('b', 'float32', [2, 5])],
  nodes: [
    node('Scan', ['start', 'a', 'b'], ['last', 'down', 'across'], {
      num_scan_inputs: 2,
      scan_input_axes: [0, -1],
      scan_input_directions: [0, 1],
      scan_output_axes: [0, 1],
      scan_output_directions: [1, 0],
      body: graph({
        inputs: [value('s', 'float32', [2]), value('p', 'float32', [2]), value('q', 'float32', [2])],
        nodes: [node('Mul', ['p', 'q'], ['m']), node('Add', ['s', 'm'], ['next']), node('Sub', ['s', 'q'], ['d'])],
        outputs: [value('next', 'float32', [2]), value('m', 'float32', [2]), value('d', 'float32', [2])],
      }),
    }),
  ],
  outputs: ['last', 'down', 'across'],
});

const FEEDS = (count: number, go = true): Record<string, HostTensor> => ({
  x: numbers.tensor([2, 3], 'float32', 0.5, 2.5),
  count: i64([], [count]),
  go: bool(go),
});

onBackends('graphs of nodes', (backend) => {
  it.each([
    ['above', 1],
    ['below', -1],
  ])('If takes a branch by numbers of the device: %s', (_, sign) =>
    expectModelAsRuntime(backend(), branches, { x: f32([3], [3 * sign, 2, -1]) }),
  );

  it.each([
    ['a count', loop('count', ''), FEEDS(4)],
    ['a count and a condition of the device', loop('count', 'go'), FEEDS(50)],
    ['a condition alone', loop('', 'go'), FEEDS(0)],
    ['no turn', loop('count', 'go'), FEEDS(3, false)],
  ])('Loop goes round by %s', (_, bytes, feeds) => expectModelAsRuntime(backend(), bytes, feeds));

  it('Scan goes along axes, also backwards', () =>
    expectModelAsRuntime(backend(), scan, {
      start: numbers.tensor([2]),
      a: numbers.tensor([5, 2]),
      b: numbers.tensor([2, 5]),
    }));

  it('leave nothing behind', async () => {
    const before = memory().tensors;
    {
      using model = await loadOnnx(backend(), loop('count', 'go'));
      for (let turn = 0; turn < 3; turn++) await model.runOnHost(FEEDS(6));
    }
    expect(memory().tensors).toBe(before);
  });
});

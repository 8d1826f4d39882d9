import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, describe, expect, it } from 'vitest';
import { hostTensor } from '../src/graph/host-tensor.ts';
import { loadOnnx } from '../src/index.ts';
import { OPERATORS } from '../src/operators/table.ts';
import { expectRefused, Numbers, type OneNode } from './support/against-runtime.ts';
import { reference } from './support/reference.ts';
import { type Given, modelBytes, node, value } from './support/write-model.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

const open = async (parts: Parameters<typeof modelBytes>[0]): Promise<void> =>
  (await loadOnnx(backend, modelBytes(parts))).dispose();

const times = (count: number): string[] => Array.from({ length: count }, () => 'x');

/** Opens a model of one node, whose inputs are all the same. */
const openNode = (op: string, attributes: Readonly<Record<string, Given>>, opset: number, count = 1): Promise<void> =>
  open({ inputs: [value('x')], nodes: [node(op, times(count), ['y'], attributes)], outputs: ['y'], opset });

describe('attributes', () => {
  it.each<[string, number, string, Record<string, Given>]>([
    ['Relu', 21, 'slope = 0.5', { slope: 0.5 }],
    ['Conv', 21, 'padding', { group: 1, padding: [1, 1, 1, 1] }],
    ['com.microsoft.GroupQueryAttention', 1, 'causal = 0', { num_heads: 2, sliding_window_cache: 0, causal: 0 }],
    ['com.microsoft.MatMulNBits', 1, 'weight_prepacked = 1', { bits: 4, weight_prepacked: 1 }],
    ['com.microsoft.RotaryEmbedding', 1, 'scale = 0.5', { scale: 0.5 }],
    ['LayerNormalization', 21, 'stash_type = 16', { stash_type: 16 }],
    // Of other operator sets.
    ['Clip', 11, 'min = 0', { min: { f: 0 }, max: { f: 6 } }],
    ['Slice', 10, 'starts', { starts: [0], ends: [1] }],
    ['TopK', 10, 'k = 1', { k: 1 }],
    ['Upsample', 9, 'scales', { mode: 'nearest', scales: { floats: [2, 2] } }],
    ['Resize', 10, 'nearest_mode = ceil', { nearest_mode: 'ceil' }],
    ['Reshape', 13, 'allowzero = 1', { allowzero: 1 }],
  ])('%s of operator set %i is refused for %s before anything runs', async (op, version, which, attributes) => {
    await expect(openNode(op, attributes, op.includes('.') ? 21 : version)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      detail: `onnx: node ${op} "${op.split('.').at(-1)}_y" has the attribute ${which}, which is not supported in operator set ${version}`,
    });
  });

  it.each<[string, number, Record<string, Given>, number?]>([
    ['Relu', 21, { consumed_inputs: [0] }],
    ['BatchNormalization', 21, { momentum: 0.9, training_mode: 0 }, 5],
    ['BatchNormalization', 7, { momentum: 0.9, spatial: 1 }, 5],
    ['Cast', 21, { to: 1, saturate: 1 }],
    ['com.microsoft.GroupQueryAttention', 21, { sliding_window_cache: 0, causal: 1, qk_norm_epsilon: { f: 1e-6 } }, 7],
    ['com.microsoft.MatMulNBits', 21, { accuracy_level: 4, weight_prepacked: 0 }, 3],
    ['Clip', 10, { min: { f: 0 }, max: { f: 6 } }],
  ])('%s of operator set %i is opened with %o', (op, opset, attributes, count) =>
    openNode(op, attributes, opset, count),
  );

  const [image, bytes] = [new Numbers().tensor([1, 4, 2, 2]), hostTensor('uint8', [2], [1, 2])];
  it.each<OneNode & { wrong: string }>([
    { op: 'GridSample', inputs: [image, image], attributes: { mode: 'cubical' }, wrong: 'mode cubical' },
    { op: 'DepthToSpace', inputs: [image], attributes: { blocksize: 2, mode: 'RCD' }, wrong: 'mode RCD' },
    { op: 'Gelu', inputs: [image], attributes: { approximate: 'erf' }, wrong: 'approximate erf' },
    { op: 'BitShift', inputs: [bytes, bytes], attributes: { direction: 'UP' }, wrong: 'direction UP' },
    { op: 'LpNormalization', inputs: [image], attributes: { p: 3 }, wrong: 'p 3' },
  ])('$op is refused for $wrong', ({ wrong, ...given }) =>
    expectRefused(backend, given, 'UNSUPPORTED', new RegExp(`: ${wrong} is not supported`)),
  );

  it('of a constant, a call of a function and a graph in a node are as others, and of a dead node do not matter', async () => {
    const inputs = [value('x'), value('c', 'bool', [])];
    const constant = node('Constant', [], ['y'], { value_int: 1, unit: 'm' });
    await expect(open({ inputs, nodes: [constant], outputs: ['y'] })).rejects.toThrow(
      'Constant "Constant_y" has value_int, unit',
    );
    const called = {
      ...{ name: 'f', domain: 'f', inputs: ['x'], outputs: ['y'], attributes: ['slope'] },
      nodes: [node('LeakyRelu', ['x'], ['y'], { alpha: 0.5 })],
      operatorSets: [{ domain: '', version: 17n }],
    };
    const call = (attributes: Record<string, Given>, given = ['x']): Promise<void> =>
      open({
        ...{ inputs, nodes: [node('f.f', given, ['y'], attributes)], outputs: ['y'] },
        more: {
          functions: [called],
          operatorSets: [
            { domain: '', version: 17n },
            { domain: 'f', version: 1n },
          ],
        },
      });
    await call({ slope: 0.5 });
    await expect(call({ slop: 0.5 })).rejects.toThrow('node f.f "f_y" has the attribute slop');
    await expect(call({}, ['x', 'c'])).rejects.toThrow('node f.f "f_y" has the input 1, which its function does not');
    const branch = (attributes: Record<string, Given>): Given => ({
      graph: { nodes: [node('Relu', ['x'], ['z'], attributes)], outputs: [value('z')] },
    });
    const choice = node('If', ['c'], ['y'], { then_branch: branch({}), else_branch: branch({ leak: 1 }) });
    await expect(open({ inputs, nodes: [choice], outputs: ['y'] })).rejects.toThrow(
      'node Relu "Relu_z" has the attribute leak',
    );
    await open({ inputs, nodes: [node('Exp', ['x'], ['z'], { base: 2 }), node('Relu', ['x'], ['y'])], outputs: ['y'] });
  });
});

/** Inputs that only others read: how many of them there are is less than ONNX Runtime says. */
const UNREAD: Readonly<Record<string, number>> = {
  MaxUnpool: 2,
  'com.microsoft.Attention': 6,
  'com.microsoft.GroupQueryAttention': 12,
  'com.microsoft.MultiHeadAttention': 8,
};

/** The newest operator set that ONNX Runtime reads. */
const NEWEST = 26;

describe('inputs', () => {
  const numbers = new Numbers(5);
  const operators = Object.keys(OPERATORS).filter((name) => !name.startsWith('concord.'));
  const isOwn = (op: string): boolean => !op.includes('.');
  /** Two operator sets of each operator. */
  const CASES = operators.flatMap((op) =>
    isOwn(op) ? [NEWEST, 7 + Math.floor(numbers.next() * 19)].map((opset) => ({ op, opset })) : [{ op, opset: 21 }],
  );
  const bytesOf = (op: string, opset: number, names: readonly string[]): Uint8Array =>
    modelBytes({
      ...{ inputs: [value('x')], nodes: [node(op, names, ['y'])], outputs: ['y'], opset, more: { irVersion: 10n } },
    });
  const errorOf = async (op: string, opset: number, names: readonly string[]): Promise<string> => {
    try {
      (await loadOnnx(backend, bytesOf(op, opset, names))).dispose();
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('are as many as ONNX Runtime says, of every operator; a further one is refused before anything runs', async () => {
    let compared = 0;
    for (const { op, opset } of CASES) {
      const what = `${op} of operator set ${opset}`;
      const theirs = await reference(bytesOf(op, opset, times(40)), {}).then(
        () => '',
        (error: Error) => error.message,
      );
      const [, least, most] = /not in range \[min=(\d+), max=(\d+)\]/.exec(theirs) ?? [];
      if (least === undefined || most === undefined) continue;
      compared++;
      const count = UNREAD[op] ?? Number(most);
      const further = `has the input ${count}, which is not supported in operator set ${isOwn(op) ? opset : 1}`;
      const names = times(count).map((name, i) => (op === 'com.microsoft.MatMulNBits' && i === 4 ? '' : name));
      expect(await errorOf(op, opset, [...names, 'x']), what).toContain(further);
      // One that is left out is none.
      expect(await errorOf(op, opset, [...names, '', '']), what).not.toContain('has the input');
      // In older operator sets some that may be left out now had to be there.
      const last = Number(least) - 1;
      if (last >= 0 && opset >= 13)
        expect(await errorOf(op, opset, times(last)), what).toContain(`lacks the input ${last}`);
    }
    expect(compared).toBeGreaterThan(200);
  });

  it.each<[string, number, string[], string]>([
    // What ONNX Runtime has and is not read here.
    ['com.microsoft.MatMulNBits', 1, ['x', 'x', 'x', '', 'x'], 'has the input 4'],
    ['com.microsoft.GroupQueryAttention', 1, [...times(7), ...'_'.repeat(6).split('_'), 'x'], 'has the input 14'],
    // What passes make of a product is not what a file may say.
    ['MatMul', 21, times(3), 'has the input 2'],
    ['Conv', 21, times(4), 'has the input 3'],
    ['Constant', 21, times(1), 'has the input 0'],
    // Later operator sets than ONNX Runtime has.
    ['SwiGLU', 28, times(3), 'has the input 2'],
    ['CausalConvWithState', 27, times(5), 'has the input 4'],
  ])('%s of operator set %i is refused with inputs that it does not read', async (op, opset, names, wrong) => {
    expect(await errorOf(op, op.includes('.') ? 21 : opset, names)).toContain(`${wrong}, which is not supported`);
  });
});

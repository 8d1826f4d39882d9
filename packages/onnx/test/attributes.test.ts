import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostTensor } from '../src/graph/host-tensor.ts';
import { loadOnnx } from '../src/index.ts';
import { modelOf, Numbers, type OneNode } from './support/against-runtime.ts';
import { type Given, i64, modelBytes, node, value } from './support/write-model.ts';

const backend = await CpuBackend.create();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const open = async (parts: Parameters<typeof modelBytes>[0]): Promise<void> =>
  (await loadOnnx(backend, modelBytes(parts))).dispose();

/** Opens a model of one node of an input. */
const openNode = (op: string, attributes: Readonly<Record<string, Given>>, opset: number): Promise<void> =>
  open({ inputs: [value('x')], nodes: [node(op, ['x'], ['y'], attributes)], outputs: ['y'], opset });

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

  it.each<[string, number, Record<string, Given>]>([
    ['Relu', 21, { consumed_inputs: [0] }],
    ['BatchNormalization', 21, { momentum: 0.9, training_mode: 0 }],
    ['BatchNormalization', 7, { momentum: 0.9, spatial: 1 }],
    ['Cast', 21, { to: 1, saturate: 1 }],
    ['com.microsoft.GroupQueryAttention', 21, { sliding_window_cache: 0, causal: 1, qk_norm_epsilon: { f: 1e-6 } }],
    ['com.microsoft.MatMulNBits', 21, { accuracy_level: 4, weight_prepacked: 0 }],
    ['Clip', 10, { min: { f: 0 }, max: { f: 6 } }],
  ])('%s of operator set %i is opened with %o', (op, opset, attributes) => openNode(op, attributes, opset));

  const [image, bytes] = [new Numbers().tensor([1, 4, 2, 2]), hostTensor('uint8', [2], [1, 2])];
  const row = new Numbers().tensor([1, 1, 8]);
  const none = (count: number): undefined[] => Array.from({ length: count }, () => undefined);
  it.each<OneNode & { wrong: string }>([
    { op: 'GridSample', inputs: [image, image], attributes: { mode: 'cubical' }, wrong: 'mode cubical' },
    { op: 'DepthToSpace', inputs: [image], attributes: { blocksize: 2, mode: 'RCD' }, wrong: 'mode RCD' },
    { op: 'Gelu', inputs: [image], attributes: { approximate: 'erf' }, wrong: 'approximate erf' },
    { op: 'BitShift', inputs: [bytes, bytes], attributes: { direction: 'UP' }, wrong: 'direction UP' },
    { op: 'LpNormalization', inputs: [image], attributes: { p: 3 }, wrong: 'p 3' },
    {
      ...{ op: 'com.microsoft.GroupQueryAttention', attributes: { num_heads: 2, kv_num_heads: 2 } },
      inputs: [row, row, row, ...none(2), hostTensor('int32', [1], [0]), i64([], [1]), ...none(7), row, row],
      wrong: 'a norm of heads',
    },
  ])('$op is refused for $wrong', async ({ wrong, ...given }) => {
    const { parts, feeds } = modelOf(given);
    using model = await loadOnnx(backend, modelBytes(parts));
    await expect(model.runOnHost(feeds)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      detail: expect.stringContaining(`: ${wrong} is not supported`),
    });
  });

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
    const call = (attributes: Record<string, Given>): Promise<void> =>
      open({
        ...{ inputs, nodes: [node('f.f', ['x'], ['y'], attributes)], outputs: ['y'] },
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

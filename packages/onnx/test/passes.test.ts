import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, describe, expect, it } from 'vitest';
import type { HostTensor } from '../src/graph/host-tensor.ts';
import { loadOnnx } from '../src/index.ts';
import { optimise } from '../src/graph/passes.ts';
import { decodeModel, readModel } from '../src/read/read-model.ts';
import type { Proto } from '../src/read/schema.ts';
import { expectModelAsRuntime, Numbers } from './support/against-runtime.ts';
import { f32, i64, listOf, modelBytes, node, type Parts, value } from './support/write-model.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

const random = (dims: readonly number[], seed = 1): HostTensor => new Numbers(seed).tensor(dims);

/**
 * Checks which operators are left, and that the results are those of ONNX Runtime.
 *
 * @param more - of the model, whose inputs are what it is fed and whose output is y
 */
async function check(
  nodes: Parts['nodes'],
  feeds: Readonly<Record<string, HostTensor>>,
  left: readonly string[],
  more: Partial<Parts> = {},
): Promise<void> {
  const inputs = Object.entries(feeds).map(([name, { type, dims }]) => value(name, type, dims));
  const bytes = modelBytes({ nodes, inputs, outputs: ['y'], ...more });
  const graph = optimise(readModel(decodeModel(bytes).proto, new Map()).graph);
  expect(graph.nodes.map(({ op }) => op)).toEqual(left);
  await expectModelAsRuntime(backend, bytes, feeds);
}

describe('passes', () => {
  it('put bias and activation into a product', async () => {
    const constants = { w: random([4, 3]), b: random([3], 2) };
    for (const op of ['Relu', 'Sigmoid', 'Tanh']) {
      const nodes = [node('MatMul', ['x', 'w'], ['p']), node('Add', ['b', 'p'], ['q']), node(op, ['q'], ['y'])];
      await check(nodes, { x: random([2, 4], 3) }, ['MatMul'], { constants });
    }
  });

  it('put what follows a product alone into it, with numbers', async () => {
    const constants = {
      ...{ w: random([4, 3, 1, 1]), m: random([3, 5], 2), low: f32([], [0]), high: f32([], [0.5]) },
      ...{ scale: f32([1], [1.5]), shift: f32([1], [-0.25]) },
    };
    const nodes = [
      node('Conv', ['x', 'w'], ['c']),
      node('Clip', ['c', 'low', 'high'], ['d']),
      node('MatMul', ['d', 'm'], ['e']),
      node('Mul', ['scale', 'e'], ['f']),
      node('Add', ['f', 'shift'], ['g']),
      node('HardSwish', ['g'], ['y']),
    ];
    await check(nodes, { x: random([1, 3, 2, 3], 3) }, ['Conv', 'MatMul'], { constants });
  });

  it('make two products of weights in blocks and their gate one node, where the weights are alike', async () => {
    const [k, n] = [64, 24];
    const bytes = (seed: number): HostTensor => new Numbers(seed).bytes([n, 2, 16]);
    const scales = (seed: number): HostTensor => new Numbers(seed).tensor([n, 2], 'float32', 0.001, 0.01);
    const constants = { a: bytes(1), b: bytes(2), s: scales(6), t: scales(3), z: new Numbers(4).bytes([n, 1]) };
    const product = (inputs: readonly string[], output: string, more: object = {}): Parts['nodes'][number] =>
      node('com.microsoft.MatMulNBits', inputs, [output], { K: k, N: n, bits: 4, block_size: 32, ...more });
    const silu = [node('Sigmoid', ['g'], ['h']), node('Mul', ['h', 'g'], ['i']), node('Mul', ['u', 'i'], ['y'])];
    const checkOf = (up: Parts['nodes'][number], left: readonly string[], outputs = ['y']): Promise<void> => {
      const nodes = [product(['x', 'a', 's', 'z'], 'g'), up, ...silu];
      return check(nodes, { x: random([2, k], 5) }, left, { constants, outputs });
    };
    const apart = ['MatMulNBits', 'MatMulNBits', 'Chain'];
    await checkOf(product(['x', 'b', 't'], 'u'), ['Gated']);
    await checkOf(product(['x', 'b', 't'], 'u', { accuracy_level: 1 }), apart);
    await checkOf(product(['x', 'b', 't'], 'u'), ['MatMulNBits', 'MatMulNBits', 'Sigmoid', 'Chain'], ['y', 'h']);
  });

  it('make one product of those of one operand', async () => {
    const constants = { a: random([4, 3]), b: random([4, 2], 2), c: random([3], 3), d: random([2], 4) };
    const nodes = [
      node('MatMul', ['x', 'a'], ['p']),
      node('Add', ['p', 'c'], ['y']),
      node('Softmax', ['y'], ['z']),
      node('MatMul', ['x', 'b'], ['q']),
      node('Add', ['q', 'd'], ['v']),
    ];
    const left = ['MatMul', 'Split', 'Softmax'];
    await check(nodes, { x: random([2, 4], 3) }, left, { constants, outputs: ['z', 'v'] });
  });

  it('leave a value that something else reads', async () => {
    const constants = { w: random([4, 3]) };
    const nodes = [node('MatMul', ['x', 'w'], ['p']), node('Relu', ['p'], ['y'])];
    await check(nodes, { x: random([2, 4], 3) }, ['MatMul', 'Relu'], { constants, outputs: ['y', 'p'] });
  });

  it('put a batch normalization into a convolution, with x sigmoid(x) after it', async () => {
    const known = {
      scale: random([4], 5),
      shift: random([4], 6),
      mean: random([4], 7),
      variance: f32([4], [1, 0.5, 2, 3]),
    };
    const nodes = [
      node('Conv', ['x', 'w', 'b'], ['c'], { pads: [1, 0, 1, 0], strides: [2, 1] }),
      node('BatchNormalization', ['c', ...Object.keys(known)], ['n']),
      node('Sigmoid', ['n'], ['s']),
      node('Mul', ['s', 'n'], ['y']),
    ];
    const constants = { ...known, w: random([4, 3, 3, 2]), b: random([4], 9) };
    await check(nodes, { x: random([1, 3, 5, 5], 3) }, ['Conv'], { constants });
  });

  it('find gelu in its orders, and not what only looks like it', async () => {
    const constants = { root: f32([], [Math.SQRT2]), one: f32([], [1]), half: f32([], [0.5]), two: f32([], [2]) };
    const head = (half = 'root') => [
      node('Div', ['x', half], ['d']),
      node('Erf', ['d'], ['e']),
      node('Add', ['e', 'one'], ['f']),
    ];
    const bodies = [
      [...head(), node('Mul', ['x', 'f'], ['g']), node('Mul', ['g', 'half'], ['y'])],
      [...head(), node('Mul', ['f', 'half'], ['g']), node('Mul', ['x', 'g'], ['y'])],
      [...head(), node('Mul', ['x', 'half'], ['g']), node('Mul', ['g', 'f'], ['y'])],
    ];
    const feeds = { x: f32([7], [-3, -1, -0.1, 0, 0.1, 1, 3]) };
    for (const nodes of bodies) await check(nodes, feeds, ['Gelu'], { constants });
    const other = [...head('two'), node('Mul', ['x', 'f'], ['g']), node('Mul', ['g', 'half'], ['y'])];
    await check(other, feeds, ['Chain'], { constants });
  });

  it('find a layer normalization in pieces', async () => {
    const constants = { two: f32([], [2]), eps: f32([], [1e-6]), w: random([6], 4), b: random([6], 5) };
    const nodes = [
      node('ReduceMean', ['x'], ['m'], { axes: [-1] }),
      node('Sub', ['x', 'm'], ['d']),
      node('Pow', ['d', 'two'], ['p']),
      node('ReduceMean', ['p'], ['v'], { axes: [-1] }),
      node('Add', ['v', 'eps'], ['a']),
      node('Sqrt', ['a'], ['r']),
      node('Div', ['d', 'r'], ['n']),
      node('Mul', ['n', 'w'], ['s']),
      node('Add', ['s', 'b'], ['y']),
    ];
    await check(nodes, { x: random([3, 6]) }, ['LayerNormalization'], { constants });
  });

  it('find attention, with a mask and without, and what it cannot be', async () => {
    const constants = { root: f32([], [2]) };
    const inputs = ['q', 'k', 'v'].map((name) => value(name, 'float32', ['b', 'h', `s${name}`, 4]));
    const nodes = (mask: boolean) => [
      node('Transpose', ['k'], ['t'], { perm: [0, 1, 3, 2] }),
      node('MatMul', ['q', 't'], ['s']),
      node('Div', ['s', 'root'], ['d']),
      ...(mask ? [node('Add', ['d', 'mask'], ['e'])] : []),
      node('Softmax', [mask ? 'e' : 'd'], ['p'], { axis: -1 }),
      node('MatMul', ['p', 'v'], ['y']),
    ];
    const feeds = { q: random([2, 3, 5, 4]), k: random([2, 3, 7, 4], 2), v: random([2, 3, 7, 4], 3) };
    await check(nodes(false), feeds, ['Transpose', 'Attention'], { constants, inputs });
    const mask = f32([2, 1, 5, 7], (i) => (i % 3 === 0 ? -10000 : 0));
    const masked = { constants, inputs: [...inputs, value('mask', 'float32', ['b', 1, 'q', 'k'])] };
    await check(nodes(true), { ...feeds, mask }, ['Transpose', 'Attention'], masked);
    // A mask of more batches than queries makes the result larger.
    const one = { q: random([1, 3, 5, 4]), k: random([1, 3, 7, 4], 2), v: random([1, 3, 7, 4], 3), mask };
    const unknown = ['q', 'k', 'v', 'mask'].map((name) => value(name));
    await check(nodes(true), one, ['Transpose', 'Attention'], { constants, inputs: unknown });
  });

  it('put element-wise operators together, of what broadcasts, and leave integers as they are', async () => {
    const constants = { two: f32([], [2]), row: random([4], 8), one: i64([], [1]), minus: i64([1], [-1]) };
    const nodes = (number: string) => [
      node('Mul', ['x', number], ['a']),
      node('Add', ['a', 'z'], ['b']),
      node('Abs', ['b'], ['c']),
      node('Sub', ['c', 'b'], ['y']),
    ];
    await check(nodes('two'), { x: random([3, 1]), z: random([4], 2) }, ['Chain', 'Chain'], { constants });
    const whole = { x: i64([3, 1], [1, -7, 3]), z: i64([4], [1, -2, 30, 4]) };
    const outputs = [value('y', 'int64')];
    await check(nodes('one'), whole, ['Chain', 'Chain'], { constants, outputs });
  });

  it('add what is added to a product in it, of its shape or a larger one', async () => {
    const constants = { w: random([4, 3]), f: random([2, 3, 1, 1], 3) };
    const matrices = [node('MatMul', ['x', 'w'], ['p']), node('Add', ['r', 'p'], ['y'])];
    const more = { constants, inputs: [value('x'), value('r')] };
    for (const dims of [[2, 3], [3], [5, 2, 3]])
      await check(matrices, { x: random([2, 4]), r: random(dims, 2) }, ['MatMul'], more);
    const images = [node('Conv', ['x', 'f'], ['p']), node('Add', ['p', 'r'], ['y'])];
    for (const dims of [[1, 2, 4, 4], [4], [3, 2, 4, 4]])
      await check(images, { x: random([1, 3, 4, 4]), r: random(dims, 2) }, ['Conv'], more);
  });

  const square = { w: random([4, 4]), v: random([4, 4], 2), b: f32([1], [0.5]), d: random([4], 3) };
  const numbers = { root: f32([], [Math.SQRT2]), near: f32([], [1.4]), one: f32([], [1]), half: f32([], [0.5]) };
  const moments = { two: f32([], [2]), eps: f32([], [1e-6]) };
  const gelu = (root = 'root') => [
    ...[node('Div', ['x', root], ['a']), node('Erf', ['a'], ['e']), node('Add', ['e', 'one'], ['f'])],
    ...[node('Mul', ['x', 'f'], ['g']), node('Mul', ['g', 'half'], ['y'])],
  ];
  const product = node('MatMul', ['x', 'w'], ['p']);
  it.each<[string, Proto<'Node'>[], string[], (Partial<Parts> & { dims?: number[] })?]>([
    [
      'a softmax of old, of all axes but the first',
      [node('MatMul', ['x', 'x'], ['s']), node('Softmax', ['s'], ['p']), node('MatMul', ['p', 'x'], ['y'])],
      ['MatMul', 'Softmax', 'MatMul'],
      { opset: 11, dims: [2, 4, 4] },
    ],
    ['one number beside a product', [product, node('Add', ['p', 'b'], ['y'])], ['MatMul']],
    [
      'a second function',
      [product, node('Relu', ['p'], ['q']), node('HardSwish', ['q'], ['y'])],
      ['MatMul', 'HardSwish'],
    ],
    [
      'a function of a sum',
      [product, node('Add', ['p', 'x'], ['q']), node('HardSwish', ['q'], ['y'])],
      ['MatMul', 'Chain'],
    ],
    ['a gelu by tanh', [product, node('Gelu', ['p'], ['y'], { approximate: 'tanh' })], ['MatMul'], { opset: 20 }],
    ['a gelu by another root', gelu('near'), ['Chain']],
    ['a gelu of which more is wanted', gelu(), ['Chain', 'Chain'], { outputs: ['y', 'e'] }],
    [
      'one product with a bias and one without',
      [product, node('Add', ['p', 'd'], ['y']), node('MatMul', ['x', 'v'], ['z'])],
      ['MatMul', 'MatMul'],
      { outputs: ['y', 'z'] },
    ],
    [
      'a mean that drops its axis, of as many rows as columns',
      [
        ...[node('ReduceMean', ['x'], ['m'], { axes: [-1], keepdims: 0 }), node('Sub', ['x', 'm'], ['c'])],
        ...[node('Pow', ['c', 'two'], ['q']), node('ReduceMean', ['q'], ['r'], { axes: [-1], keepdims: 0 })],
        ...[node('Add', ['r', 'eps'], ['s']), node('Sqrt', ['s'], ['t']), node('Div', ['c', 't'], ['u'])],
        node('Mul', ['u', 'd'], ['y']),
      ],
      ['ReduceMean', 'Sub', 'Pow', 'ReduceMean', 'Chain'],
      { opset: 17 },
    ],
  ])('keep %s as it is', async (_, nodes, left, { dims = [4, 4], ...more } = {}) => {
    const read = new Set(nodes.flatMap(({ inputs = [] }) => inputs));
    const all = Object.entries({ ...square, ...numbers, ...moments }).filter(([name]) => read.has(name));
    await check(nodes, { x: random(dims, 5) }, left, { constants: Object.fromEntries(all), ...more });
  });

  it('keep a normalization that trains beside a convolution, which is refused', async () => {
    const names = ['scale', 'shift', 'mean', 'variance'];
    const constants = Object.fromEntries([
      ['w', random([2, 2, 1, 1])],
      ...names.map((name) => [name, f32([2], [1, 2])]),
    ]);
    const training = node('BatchNormalization', ['c', ...names], ['y'], { training_mode: 1 });
    const parts = {
      inputs: [value('x')],
      nodes: [node('Conv', ['x', 'w'], ['c']), training],
      outputs: ['y'],
      constants,
    };
    using model = await loadOnnx(backend, modelBytes(parts));
    await expect(model.runOnHost({ x: random([1, 2, 2, 2]) })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });

  it('of a function are those of its own operator set, with its defaults', async () => {
    const slope = { name: 'alpha', type: 1, reference: 'slope' };
    const nodes = [{ ...node('LeakyRelu', ['a'], ['b']), attributes: [slope] }, node('Softmax', ['b'], ['c'])];
    const own = { name: 'soft', domain: 'own', inputs: ['a'], outputs: ['c'], nodes };
    const functions = [
      { ...own, defaults: [{ name: 'slope', type: 1, f: 0.25 }], operatorSets: [{ domain: '', version: 11n }] },
    ];
    const operatorSets = [
      { domain: '', version: 13n },
      { domain: 'own', version: 1n },
    ];
    const bytes = modelBytes({
      ...{ inputs: [value('x', 'float32', [2, 2, 2])], nodes: [node('own.soft', ['x'], ['y'])], outputs: ['y'] },
      more: { functions, operatorSets },
    });
    using model = await loadOnnx(backend, bytes);
    const { y } = await model.runOnHost({ x: f32([2, 2, 2], [-4, 0, 0, 0, 0, 0, 0, 0]) });
    const row = [Math.exp(-1), 1, 1, 1].map((each) => expect.closeTo(each / (3 + Math.exp(-1)), 5) as number);
    expect(listOf(y)).toEqual([...row, 0.25, 0.25, 0.25, 0.25]);
  });

  it('put a function of a product with factors after what is added', async () => {
    const nodes = [node('Gemm', ['x', 'w', 'd'], ['p'], { alpha: 0.5, beta: { f: 2 } }), node('Relu', ['p'], ['y'])];
    await check(nodes, { x: random([4, 4], 5) }, ['Gemm'], { constants: { w: square.w, d: square.d } });
  });

  it('leave out what nothing reads', async () => {
    const nodes = [node('Relu', ['x'], ['y']), node('Exp', ['x'], ['z']), node('Log', ['z'], ['u'])];
    await check(nodes, { x: random([2]) }, ['Relu']);
  });
});

import { CpuBackend } from '@concord/backend-cpu';
import { copy, memory, tensor, transpose } from '@concord/ops';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { loadOnnx } from '../src/index.ts';
import { expectModelAsRuntime } from './support/against-runtime.ts';
import { f32, graphProto, i64, listOf, modelBytes, node, value } from './support/write-model.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

/** A layer with a reshape by the shape of its input, so that sizes are computed on the host. */
const layer = modelBytes({
  inputs: [value('x', 'float32', ['n', 4])],
  constants: {
    w: f32([4, 3], [1, 0, 2, 0, 1, 0, -1, 0, 0, 0.5, 0, 1]),
    b: f32([3], [1, -20, 0]),
    axis: i64([1], [0]),
    last: i64([1], [-1]),
  },
  nodes: [
    node('MatMul', ['x', 'w'], ['p']),
    node('Add', ['p', 'b'], ['q']),
    node('Relu', ['q'], ['r']),
    node('Softmax', ['r'], ['s'], { axis: -1 }),
    node('Shape', ['x'], ['shape']),
    node('Gather', ['shape', 'axis'], ['n']),
    node('Concat', ['n', 'last'], ['to'], { axis: 0 }),
    node('Transpose', ['s'], ['t'], { perm: [1, 0] }),
    node('ReduceSum', ['t', 'axis'], ['u'], { keepdims: 0 }),
    node('Reshape', ['s', 'to'], ['y']),
  ],
  outputs: ['y', 'u'],
});

describe('a session', () => {
  it('computes, records at the second run of a shape and replays', async () => {
    using model = await loadOnnx(backend, layer);
    for (let turn = 0; turn < 4; turn++) {
      for (const n of [1, 2]) {
        const x = Float32Array.from({ length: 4 * n }, (_, i) => i + turn);
        const { y, u } = await model.runOnHost({ x: { type: 'float32', dims: [n, 4], data: x } });
        expect(y?.dims).toEqual([n, 3]);
        const rows = Array.from({ length: n }, (_, row) => {
          const [a, b, c, d] = x.slice(4 * row) as unknown as [number, number, number, number];
          const r = [a - c + d / 2 + 1, b - 20, 2 * a + d].map((each) => Math.exp(Math.max(0, each)));
          return r.map((each) => each / r.reduce((p, q) => p + q));
        });
        expect(listOf(y)).toEqual(rows.flat().map((each) => expect.closeTo(each, 5)));
        expect(listOf(u)).toEqual(rows.map(() => expect.closeTo(1, 5)));
      }
    }
  });

  it('takes and gives tensors of the device', async () => {
    using model = await loadOnnx(backend, layer);
    using x = tensor(backend, [[1, 2, 3, 4]]);
    for (let turn = 0; turn < 3; turn++) {
      const { y } = await model.run({ x }, { outputs: ['y'] });
      expect(y?.shape).toEqual([1, 3]);
      y?.dispose();
    }
    // One that lies otherwise is of another program.
    using square = tensor(
      backend,
      Array.from({ length: 16 }, (_, i) => i / 16),
      [4, 4],
    );
    using across = transpose(square);
    using dense = copy(across);
    const rows: number[][] = [];
    for (const x of [square, square, across, across, dense]) {
      const { y } = await model.run({ x }, { outputs: ['y'] });
      rows.push([...((await y?.toArray()) ?? [])]);
      y?.dispose();
    }
    expect(rows.slice(2, 4)).toEqual([rows[4], rows[4]]);
  });

  it('gives runs that are asked for at once each its own numbers, also where they are of other shapes', async () => {
    using model = await loadOnnx(backend, layer, { maxPrograms: 1 });
    const feeds = [1, 2, 1, 1, 2, 1].map((n, i) => ({ x: f32([n, 4], () => i / 7) }));
    const wanted = [];
    for (const each of feeds) wanted.push(await model.runOnHost(each));
    expect(await Promise.all(feeds.map((each) => model.runOnHost(each)))).toEqual(wanted);
  });

  it('does not mistake texts for others that are joined alike', async () => {
    const both = modelBytes({
      inputs: [value('s', 'string', [2]), value('x', 'float32', [1])],
      nodes: [node('Identity', ['s'], ['o']), node('Relu', ['x'], ['y'])],
      outputs: [value('o', 'string'), 'y'],
    });
    using model = await loadOnnx(backend, both);
    const run = async (...data: string[]) =>
      listOf((await model.runOnHost({ s: { type: 'string', dims: [2], data }, x: f32([1], [1]) }))['o']);
    for (let turn = 0; turn < 3; turn++) expect(await run('a,b', 'c')).toEqual(['a,b', 'c']);
    expect(await run('a', 'b,c')).toEqual(['a', 'b,c']);
  });

  it('draws random numbers anew at each run, unless they have a seed', async () => {
    const draw = (seed: object) => node('RandomUniform', [], ['y'], { shape: [3], ...seed });
    for (const [seed, count] of [
      [{}, 3],
      [{ seed: { f: 2 } }, 1],
    ] as const) {
      using model = await loadOnnx(backend, modelBytes({ inputs: [], nodes: [draw(seed)], outputs: ['y'] }));
      const drawn = new Set<string>();
      for (let turn = 0; turn < 3; turn++) drawn.add(listOf((await model.runOnHost({}))['y']).join());
      expect(drawn.size).toBe(count);
    }
  });

  it('gives what a graph in a node takes from outside, and a state that goes on', async () => {
    const graph = (name: string) => ({ graph: graphProto({ inputs: [], nodes: [], outputs: [name] }) });
    const branches = modelBytes({
      inputs: [value('x', 'float32', [2]), value('c', 'bool', [])],
      nodes: [
        ...[node('Neg', ['x'], ['p']), node('Exp', ['p'], ['q'])],
        node('If', ['c'], ['y'], { then_branch: graph('p'), else_branch: graph('q') }),
      ],
      outputs: ['y'],
    });
    using model = await loadOnnx(backend, branches);
    const given = { x: f32([2], [1, -2]), c: { type: 'bool' as const, dims: [], data: Uint8Array.of(1) } };
    for (let turn = 0; turn < 3; turn++) expect(listOf((await model.runOnHost(given))['y'])).toEqual([-1, 2]);
    const causal = modelBytes({
      inputs: [value('x'), value('past')],
      constants: { w: f32([1, 1, 3], [1, 10, 100]) },
      nodes: [node('CausalConvWithState', ['x', 'w', '', 'past'], ['y', 'state'])],
      outputs: ['y', 'state'],
      opset: 28,
    });
    using convolved = await loadOnnx(backend, causal);
    const { y, state } = await convolved.runOnHost({ x: f32([1, 1, 3], [3, 4, 5]), past: f32([1, 1, 2], [1, 2]) });
    expect([listOf(y), listOf(state)]).toEqual([
      [321, 432, 543],
      [4, 5],
    ]);
  });

  it('keeps the bytes of a weight as long as a node is to read them', async () => {
    const w = { type: 'uint8' as const, dims: [2, 1, 16], data: Uint8Array.from({ length: 32 }, (_, i) => i * 37) };
    const product = (y: string) =>
      node('com.microsoft.MatMulNBits', ['x', 'w', 's'], [y], { K: 32, N: 2, bits: 4, block_size: 32 });
    const parts = {
      inputs: [value('x', 'float32', [1, 32])],
      nodes: [product('a'), product('b')],
      outputs: ['a', 'b'],
    };
    const x = f32([1, 32], () => 0.5);
    await expectModelAsRuntime(backend, modelBytes({ ...parts, constants: { w, s: f32([2], [0.1, 0.2]) } }), { x });
  });

  it('forgets the program that was not used for longest', async () => {
    using model = await loadOnnx(backend, layer, { maxPrograms: 2 });
    const recorded = vi.spyOn(backend, 'record');
    for (const n of [1, 1, 2, 2, 1, 3, 3, 1, 1]) await model.runOnHost({ x: f32([n, 4], () => 0) });
    expect(recorded).toHaveBeenCalledTimes(3);
    recorded.mockRestore();
  });

  it('refuses sizes of one name that differ, and integers beyond 32 bits', async () => {
    const two = modelBytes({
      inputs: [value('a', 'float32', ['n']), value('b', 'uint64', ['n'])],
      nodes: [node('Cast', ['b'], ['c'], { to: 1 }), node('Add', ['a', 'c'], ['y'])],
      outputs: ['y'],
    });
    using model = await loadOnnx(backend, two);
    const whole = (...values: bigint[]) => ({
      type: 'uint64' as const,
      dims: [values.length],
      data: BigUint64Array.from(values),
    });
    await expect(model.runOnHost({ a: f32([2], [1, 2]), b: whole(1n) })).rejects.toThrow('input "b" is [n], got [1]');
    await expect(model.runOnHost({ a: f32([1], [1]), b: whole(2n ** 32n) })).rejects.toThrow(
      'does not fit into 32 bits',
    );
  });

  it('gives results that are the caller’s to change, of initializers, inputs and what the host computed', async () => {
    const given = modelBytes({
      inputs: [value('x', 'float32', [1]), value('n', 'int64', [1])],
      constants: { w: f32([1], [5]) },
      nodes: [
        node('Identity', ['w'], ['o']),
        node('Identity', ['n'], ['m']),
        node('Shape', ['x'], ['size']),
        node('Expand', ['x', 'n'], ['y']),
      ],
      outputs: ['o', value('m', 'int64'), value('size', 'int64'), 'y'],
    });
    using model = await loadOnnx(backend, given);
    const n = i64([1], [2]);
    for (let turn = 0; turn < 4; turn++) {
      const results = Object.values(await model.runOnHost({ x: f32([1], [3]), n }));
      expect(results.map(listOf)).toEqual([[5], [2n], [1n], [3, 3]]);
      for (const { data } of results) (data as Float32Array).forEach((each, i, all) => (all[i] = each + each));
    }
    expect(n.data[0]).toBe(2n);
  });

  it('gives tensors that share no memory with weights', async () => {
    const weight = modelBytes({
      inputs: [value('x', 'float32', [2])],
      constants: { w: f32([2], [5, 6]), to: i64([2], [2, 1]) },
      nodes: [node('Reshape', ['w', 'to'], ['o']), node('Add', ['x', 'w'], ['y'])],
      outputs: ['o', 'w', 'y'],
    });
    using model = await loadOnnx(backend, weight, { maxPrograms: 0 });
    const storages = new Set();
    for (let turn = 0; turn < 2; turn++) {
      const results = await model.run({ x: f32([2], [1, 2]) });
      for (const each of Object.values(results)) storages.add(each.storage);
    }
    expect(storages.size).toBe(6);
  });

  it('is given back once the run under way has ended', async () => {
    const before = memory().tensors;
    const waits = modelBytes({
      inputs: [value('x', 'float32', ['n'])],
      constants: { w: f32([1], [5]) },
      nodes: [
        node('Relu', ['x'], ['r']),
        node('NonZero', ['r'], ['i']),
        node('GatherND', ['x', 'i'], ['g']),
        node('Mul', ['g', 'w'], ['y']),
      ],
      outputs: ['y'],
    });
    const model = await loadOnnx(backend, waits);
    const result = model.runOnHost({ x: f32([1], [2]) });
    await Promise.resolve().then(() => model.dispose());
    await result.catch((error: unknown) => expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' }));
    expect(memory().tensors).toBe(before);
    await expect(model.runOnHost({ x: f32([1], [2]) })).rejects.toThrow('the session was released');
  });

  it.each([
    [undefined, 'input "x" is missing'],
    [null, 'input "x" is missing'],
    [
      { type: 'float32', shape: [1, 4], data: new Float32Array(4) },
      'input "x" must be a tensor, or { type, dims, data }',
    ],
    [{ type: 'float32', dims: [1, 4], data: [1, 2, 3, 4] }, 'input "x" is float32, its data is of Array'],
    [{ type: 'float32', dims: [1, 4], data: new Int32Array(4) }, 'input "x" is float32, its data is of Int32Array'],
    [{ type: 'float32', dims: [1, 4], data: new Float32Array(3) }, 'input "x" has 3 elements, its shape 4'],
  ])('refuses %j', async (x, text) => {
    using model = await loadOnnx(backend, layer);
    await expect(model.runOnHost({ x: x as never })).rejects.toThrow(text);
  });

  it('refuses no inputs, options that there are not, and what is no backend', async () => {
    using model = await loadOnnx(backend, layer);
    await expect(model.run(undefined as never)).rejects.toThrow('inputs are given by name, in one object');
    const hint = 'options has no field maxProgram; did you mean maxPrograms?';
    await expect(loadOnnx(backend, layer, { maxProgram: 3 } as object)).rejects.toThrow(hint);
    await expect(loadOnnx(layer as never, layer)).rejects.toThrow('loadOnnx: takes a backend first');
  });
});

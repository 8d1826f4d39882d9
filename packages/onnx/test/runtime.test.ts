import { cpu } from '@concord/backend-cpu';
import { memory } from '@concord/ops';
import { InferenceSession, Tensor } from 'onnxruntime-common';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { register } from '../src/index.ts';
import { f32, modelBytes, node, value } from './support/write-model.ts';

const bytes = modelBytes({
  inputs: [value('x', 'float32', ['n', 2]), value('ids', 'int64', ['n'])],
  constants: { w: f32([2, 2], [1, 2, 3, 4]) },
  nodes: [node('MatMul', ['x', 'w'], ['y']), node('Add', ['ids', 'ids'], ['twice'])],
  outputs: [value('y', 'float32', ['n', 2]), value('twice', 'int64', ['n'])],
});
const feeds = (): Record<string, Tensor> => ({
  x: new Tensor('float32', Float32Array.of(1, 0, 0, 1), [2, 2]),
  ids: new Tensor('int64', BigInt64Array.of(3n, -4n), [2]),
});

describe('ONNX Runtime’s own API', () => {
  beforeAll(() => void register([cpu()]));

  it('creates sessions, which tell names, types and shapes, run and are released', async () => {
    const session = await InferenceSession.create(bytes, { executionProviders: ['concord'] });
    expect([session.inputNames, session.outputNames]).toEqual([
      ['x', 'ids'],
      ['y', 'twice'],
    ]);
    expect(session.inputMetadata[0]).toEqual({ name: 'x', isTensor: true, type: 'float32', shape: ['n', 2] });
    for (let turn = 0; turn < 3; turn++) {
      const { y, twice } = await session.run(feeds());
      expect([y?.dims, Array.from(y?.data as Float32Array)]).toEqual([
        [2, 2],
        [1, 2, 3, 4],
      ]);
      expect([twice?.type, Array.from(twice?.data as BigInt64Array)]).toEqual(['int64', [6n, -8n]]);
    }
    expect(Object.keys(await session.run(feeds(), ['y']))).toEqual(['y']);
    await session.release();
    await expect(session.run(feeds())).rejects.toThrow(/was released/);
  });

  it('fills a tensor that is given for an output', async () => {
    const session = await InferenceSession.create(bytes);
    const y = new Tensor('float32', new Float32Array(4), [2, 2]);
    const results = await session.run(feeds(), { y });
    expect(results['y']).toBe(y);
    expect([...y.data]).toEqual([1, 2, 3, 4]);
    // Not one of other sizes.
    const row = new Tensor('float32', new Float32Array(4), [4]);
    expect((await session.run(feeds(), { y: row }))['y']?.dims).toEqual([2, 2]);
    await session.release();
  });

  it('fills texts, and halves by their bits', async () => {
    for (const [type, data, empty] of [
      ['string', ['a', 'b'], ['', '']],
      ['float16', Uint16Array.of(0x3c00, 0x4000), new Uint16Array(2)],
    ] as const) {
      const echo = {
        inputs: [value('x', type, [2])],
        nodes: [node('Identity', ['x'], ['y'])],
        outputs: [value('y', type)],
      };
      const session = await InferenceSession.create(modelBytes(echo));
      const y = new Tensor(type as 'string', empty as unknown as string[], [2]);
      await session.run({ x: new Tensor(type as 'string', data as unknown as string[], [2]) }, { y });
      expect([...y.data]).toEqual([...data]);
      await session.release();
    }
  });

  it('leaves nothing behind where an output cannot be left', async () => {
    const session = await InferenceSession.create(bytes, { preferredOutputLocation: 'texture' });
    await expect(session.run(feeds())).rejects.toThrow('outputs at texture are not supported');
    await session.release();
    expect(memory().tensors).toBe(0);
  });

  it('leaves outputs on the device, and takes them from there', async () => {
    const session = await InferenceSession.create(bytes, { preferredOutputLocation: { y: 'gpu-buffer' } });
    let x = feeds()['x'] as Tensor;
    for (let turn = 0; turn < 3; turn++) {
      const { y, twice } = (await session.run({ ...feeds(), x })) as { y: Tensor; twice: Tensor };
      expect([y.location, twice.location]).toEqual(['gpu-buffer', 'cpu']);
      x.dispose();
      x = y;
    }
    expect([...(await x.getData())]).toEqual([37, 54, 81, 118]);
    await session.release();
  });

  it('fixes free dimensions', async () => {
    const session = await InferenceSession.create(bytes, { freeDimensionOverrides: { n: 3 } });
    expect(session.inputMetadata[0]).toMatchObject({ shape: [3, 2] });
    await expect(session.run(feeds())).rejects.toThrow('onnx: input "x" is [3, 2], got [2, 2]');
  });

  it('refuses what does not fit, with the name', async () => {
    const session = await InferenceSession.create(bytes);
    const long = { ...feeds(), ids: new Tensor('int64', BigInt64Array.of(1n, 2n ** 40n), [2]) };
    await expect(session.run(long)).rejects.toThrow(
      'node Add "Add_twice", input "ids": the int64 1099511627776 does not fit into 32 bits',
    );
    await expect(session.run({ ...feeds(), w: feeds()['x'] as Tensor })).rejects.toThrow('there is no input "w"');
    await expect(session.run({ ...feeds(), ids: feeds()['x'] as Tensor })).rejects.toThrow(
      'input "ids" is int64, got float32',
    );
  });

  it('profiles, node by node', async () => {
    const log = vi.spyOn(console, 'log').mockReturnValue(undefined);
    const session = await InferenceSession.create(bytes, { enableProfiling: true });
    await session.run(feeds());
    session.endProfiling();
    const events = JSON.parse(String(log.mock.calls[0]?.[0])) as { name: string; dur: number }[];
    expect(events.map(({ name }) => name)).toEqual(['MatMul "MatMul_y"', 'Add "Add_twice"']);
    log.mockRestore();
  });
});

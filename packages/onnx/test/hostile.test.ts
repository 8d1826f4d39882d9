import { isBackendError } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, describe, expect, it } from 'vitest';
import { type LoadOnnxOptions, loadOnnx } from '../src/index.ts';
import type { Proto } from '../src/read/schema.ts';
import {
  encode,
  f32,
  graphProto,
  i64,
  listOf,
  modelBytes,
  node,
  type Parts,
  tensorProto,
  value,
} from './support/write-model.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

const open = async (bytes: Uint8Array, options: LoadOnnxOptions = {}): Promise<void> =>
  (await loadOnnx(backend, bytes, options)).dispose();
const good: Parts = {
  inputs: [value('x', 'float32', [2, 2])],
  constants: { w: f32([2, 2], [1, 2, 3, 4]), axes: i64([1], [0]) },
  nodes: [node('MatMul', ['x', 'w'], ['y']), node('Unsqueeze', ['y', 'axes'], ['z'])],
  outputs: ['z'],
};
const withNodes = (...nodes: Proto<'Node'>[]): Uint8Array => modelBytes({ ...good, nodes, outputs: ['z'] });

describe('files that are damaged or hostile', () => {
  it('are refused with a code wherever they are cut off or changed', async () => {
    const bytes = modelBytes(good);
    let refused = 0;
    const attempt = async (changed: Uint8Array): Promise<void> => {
      try {
        await open(changed);
      } catch (error) {
        refused++;
        if (!isBackendError(error)) throw error;
        expect(['INVALID_ARGUMENT', 'UNSUPPORTED']).toContain(error.code);
      }
    };
    for (let end = 0; end < bytes.length; end++) await attempt(bytes.subarray(0, end));
    expect(refused).toBeGreaterThan(bytes.length * 0.9);
    for (let place = 0; place < bytes.length; place++) {
      for (const bits of [1, 0x80, 0xff]) await attempt(bytes.map((byte, i) => (i === place ? byte ^ bits : byte)));
    }
  });

  it.each([
    ['no model', new TextEncoder().encode('<!doctype html>'), /cannot be read|no graph|an HTML page/],
    ['a value that nothing gives', withNodes(node('Relu', ['nowhere'], ['z'])), 'node Relu "Relu_z" reads "nowhere"'],
    ['a cycle', withNodes(node('Add', ['x', 'z'], ['a']), node('Relu', ['a'], ['z'])), 'node Add "Add_a" reads "z"'],
    [
      'a name given twice',
      withNodes(node('Relu', ['x'], ['z']), node('Exp', ['x'], ['z'])),
      'node Exp "Exp_z" gives "z", which there is already',
    ],
    ['an output that nothing gives', withNodes(node('Relu', ['x'], ['y'])), 'output "z" is given by no node'],
    [
      'an operator that there is none of',
      withNodes(node('Frobnicate', ['x'], ['z'])),
      'node Frobnicate "Frobnicate_z" is of an operator that is not supported',
    ],
    ['an old operator set', modelBytes({ ...good, opset: 6 }), 'operator set 6'],
    ['a new operator set', modelBytes({ ...good, opset: 99 }), 'operator set 99'],
    [
      'dimensions beyond any memory',
      modelBytes({ ...good, constants: { ...good.constants, big: { ...f32([], []), dims: [2 ** 31, 2 ** 31] } } }),
      'initializer "big" has the shape',
    ],
    [
      'data of another length',
      modelBytes({ ...good, constants: { ...good.constants, w: { ...f32([], [1, 2]), dims: [2, 2] } } }),
      'initializer "w" has 2 elements, its shape 4',
    ],
    [
      'a negative dimension',
      modelBytes({ ...good, constants: { ...good.constants, w: { ...f32([], []), dims: [-1] } } }),
      'initializer "w" has the shape [-1]',
    ],
  ] as const)('%s', async (_, bytes, message) => {
    await expect(open(bytes)).rejects.toThrow(message);
  });

  it('with as many nodes as nobody has are refused soon', async () => {
    // The bytes of a node, a million times, after those of the rest of a graph.
    const one = encode({ 1: ['nodes', 'Node*'] }, { nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }] });
    const graph = new Uint8Array(1e6 * one.length);
    for (let i = 0; i < 1e6; i++) graph.set(one, i * one.length);
    const bytes = encode({ 1: ['irVersion', 'int'], 7: ['graph', 'bytes'] }, { irVersion: 8n, graph });
    const start = performance.now();
    await expect(open(bytes)).rejects.toThrow('more than 100000 nodes');
    expect(performance.now() - start).toBeLessThan(60_000);
  });

  it('whose functions call themselves, or multiply, are refused', async () => {
    const call = (name: string) => ({ op: name, domain: 'f', inputs: ['x'], outputs: ['z'] });
    const body = (name: string, nodes: Proto<'Node'>[]) => ({
      name,
      domain: 'f',
      inputs: ['x'],
      outputs: ['z'],
      nodes,
      operatorSets: [{ domain: '', version: 17n }],
    });
    const self = { ...good, nodes: [call('f')], more: { functions: [body('f', [call('f')])] } };
    await expect(open(modelBytes(self))).rejects.toThrow('function f calls itself');
    const names = Array.from({ length: 30 }, (_, i) => `f${i}`);
    const twice = (name: string) => [
      { ...call(name), outputs: ['y'] },
      { ...call(name), inputs: ['y'] },
    ];
    const functions = names.map((name, i) => body(name, i === 29 ? [node('Relu', ['x'], ['z'])] : twice(`f${i + 1}`)));
    await expect(open(modelBytes({ ...good, nodes: [call('f0')], more: { functions } }))).rejects.toThrow(
      'more than 100000 nodes',
    );
  });

  it('that lie deeper than any graph are refused', async () => {
    let graph = graphProto({ inputs: [], nodes: [node('Relu', ['x'], ['z'])], outputs: ['z'] });
    for (let i = 0; i < 60; i++) {
      graph = graphProto({
        inputs: [],
        nodes: [node('If', ['x'], ['z'], { then_branch: { graph }, else_branch: { graph } })].map((each) => ({
          ...each,
          attributes: each.attributes?.slice(0, 1) ?? [],
        })),
        outputs: ['z'],
      });
    }
    const bytes = encode('Model', {
      irVersion: 8n,
      graph: { ...graph, inputs: good.inputs },
      operatorSets: [{ domain: '', version: 17n }],
    });
    await expect(open(bytes)).rejects.toThrow('nested too deeply');
  });

  it('whose data lies outside of their folder are refused, others read what they are given', async () => {
    const outside = (location: string, more: { key: string; value: string }[] = []): Uint8Array => {
      const external = {
        ...tensorProto('w', f32([2, 2], [])),
        location: 1,
        external: [{ key: 'location', value: location }, ...more],
      };
      delete (external as { raw?: unknown }).raw;
      const graph = graphProto({ ...good, constants: { axes: good.constants?.['axes'] as never } });
      return encode('Model', {
        irVersion: 8n,
        graph: { ...graph, initializers: [...(graph.initializers ?? []), external] },
        operatorSets: [{ domain: '', version: 17n }],
      });
    };
    for (const path of ['../w.bin', '/etc/passwd', 'a/../../w', 'C:\\w', 'https://example.org/w', '']) {
      await expect(open(outside(path))).rejects.toThrow('which is not beside the model');
    }
    await expect(open(outside('w.bin'))).rejects.toThrow('w.bin: tensors of the model lie in this file');
    const w = new Uint8Array(20);
    w.set(new Uint8Array(Float32Array.of(5, 6, 7, 8).buffer), 4);
    const place = [
      { key: 'offset', value: '4' },
      { key: 'length', value: '16' },
    ];
    await expect(
      open(
        outside('w.bin', [
          { key: 'offset', value: '8' },
          { key: 'length', value: '16' },
        ]),
        { externalData: { 'w.bin': w } },
      ),
    ).rejects.toThrow('the file has 20');
    using model = await loadOnnx(backend, outside('w.bin', place), { externalData: { 'w.bin': w } });
    const { z } = await model.runOnHost({ x: f32([2, 2], [1, 0, 0, 1]) });
    expect(listOf(z)).toEqual([5, 6, 7, 8]);
  });

  it('name the node that fails while it runs', async () => {
    using model = await loadOnnx(backend, modelBytes({ ...good, inputs: [value('x')] }));
    await expect(model.runOnHost({ x: f32([2, 3], [1, 2, 3, 4, 5, 6]) })).rejects.toThrow('node MatMul "MatMul_y"');
  });
});

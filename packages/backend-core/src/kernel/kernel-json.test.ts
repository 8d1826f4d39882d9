import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { deepFreeze } from '../contract/deep-freeze.ts';
import { checkKernel, defineKernel, kernelFromJson } from './index.ts';

const everything = defineKernel(
  'everything',
  {
    inputs: {
      x: 'f32',
      n: 'i32',
      w: { type: 'f32', level: 'row' },
      t: { type: 'u32', access: 'gather', rank: 2 },
    },
    params: { eps: 'f32', seed: 'u32' },
  },
  ({ x, n, w, t, eps, seed }, k) => {
    const special = [Number.NaN, Infinity, -Infinity, -0, 1e-45].map((value) => k.f32(value));
    const sum = special.reduce((a, b) => k.add(a, b));
    const mean = k.name('mean', k.fold('mean', k.add(k.mul(x, eps), sum)));
    const found = k.gather(t, [k.index(-1), k.toU32(n)], 7);
    const random = k.random(seed, k.add(found, k.extent(0)), k.rowIndex(-1));
    return {
      y: k.select(k.or(k.isNan(x), false), k.spread(mean), k.bitcast('f32', random)),
      z: k.toI32(k.add(w, mean)),
    };
  },
);

/** Its JSON with something changed. */
function changed(change: (json: Json) => void): unknown {
  const json = JSON.parse(JSON.stringify(everything)) as Json;
  change(json);
  return json;
}
type Json = Record<'nodes' | 'inputs' | 'params' | 'outputs', Record<string, unknown>[]> & Record<string, unknown>;
/** Changes fields of the first node of a kind. */
const inNode =
  (kind: string, fields: object) =>
  (json: Json): object =>
    Object.assign(json.nodes.find((node) => node['kind'] === kind) as object, fields);

describe('kernelFromJson', () => {
  it('reads what JSON.stringify wrote, NaN, infinities and -0 included', () => {
    const read = kernelFromJson(JSON.parse(JSON.stringify(everything)));
    expect(read).toEqual(everything);
    expect(read.key).toBe(everything.key);
    expect(Object.isFrozen(read.nodes[0])).toBe(true);
    const bits = read.nodes.flatMap((node) => (node.kind === 'constant' && node.type === 'f32' ? node.bits : []));
    expect(new Float32Array(Uint32Array.from(bits).buffer)).toEqual(
      Float32Array.of(Number.NaN, Infinity, -Infinity, -0, 1e-45),
    );
  });

  it('works out the key and what else follows from the graph', () => {
    const read = kernelFromJson(
      changed((json) => Object.assign(json, { key: 'lie', hasRows: false, labels: undefined })),
    );
    expect(read).toMatchObject({ key: everything.key, hasRows: true, labels: {} });
  });

  it.each<[string, (json: Json) => void]>([
    ["a kernel's name must be a string, got undefined", (json) => delete json['name']],
    ['a kernel must hold a list, got undefined', (json) => delete (json as Record<string, unknown>)['nodes']],
    ["a kernel's labels must be an object, got null", (json) => (json.labels = null as never)],
    ['a kernel\'s labels must be an object, got "x"', (json) => (json.labels = 'x' as never)],
    ["a kernel's nodes must be objects, got 5", (json) => json.nodes.push(5 as never)],
    ['a kernel\'s inputs must have distinct names, got "x"', (json) => json.inputs.push({ name: 'x', type: 'i32' })],
    ["a kernel's params must have distinct names, got undefined", (json) => json.params.push({ type: 'i32' })],
    ['a kernel\'s outputs must have distinct names, got "y"', (json) => json.outputs.push({ ...json.outputs[0] })],
    ['kernel everything: x is an input and a parameter', (json) => json.params.push({ name: 'x', type: 'f32' })],
    ['kernel everything: there is no node of kind "loop"', inNode('input', { kind: 'loop' })],
    ['kernel everything: there is no operation "toString"', inNode('arithmetic', { op: 'toString' })],
    ['kernel everything: operand 99 is not a node before its user', inNode('fold', { operands: [99] })],
    ['a kernel must hold a list, got 0', inNode('fold', { operands: 0 })],
    ['kernel everything: operand "0" is not a node before its user', inNode('fold', { operands: ['0'] })],
    ['kernel everything: a constant must be f32, i32, u32 or bool, got "f64"', inNode('constant', { type: 'f64' })],
    [
      'kernel everything: the bits of a constant f32 must be an integer from 0 to 4294967295, got -1',
      inNode('constant', { type: 'f32', bits: -1 }),
    ],
    [
      'kernel everything: the bits of a constant bool must be an integer from 0 to 1, got 2',
      inNode('constant', { type: 'bool', bits: 2 }),
    ],
    [
      'kernel everything: node 0 is f32 of level element, not "u32" of level "element"',
      (json) => (json.nodes[0]!['type'] = 'u32'),
    ],
    [
      'kernel everything: output y is f32 of level element, not "f32" of level "row"',
      (json) => (json.outputs[0]!['level'] = 'row'),
    ],
    ['kernel everything: index takes an axis from -8 to 7, got "0"', inNode('index', { axis: '0' })],
    ['kernel everything: q must be a value of this kernel, got undefined', inNode('input', { name: 'q' })],
  ])('%s', (detail, change) => {
    expectInvalid(() => kernelFromJson(changed(change)), detail);
  });

  it.each<[string, (json: Json) => void]>([
    ["a kernel's nodes exceed the limit of 256: there are 257", (json) => (json.nodes.length = 257)],
    ["a kernel's nodes exceed the limit of 256: there are 67108864", (json) => (json.nodes.length = 2 ** 26)],
    ["a kernel's inputs exceed the limit of 8: there are 1000", (json) => (json.inputs.length = 1000)],
    ["a kernel's params exceed the limit of 16: there are 1000", (json) => (json.params.length = 1000)],
    ["a kernel's outputs exceed the limit of 8: there are 1000", (json) => (json.outputs.length = 1000)],
    [
      'the operands of a node exceed the limit of 5: there are 4294967295',
      inNode('fold', { operands: Object.assign([], { length: 2 ** 32 - 1 }) }),
    ],
    ['op of a kernel\'s nodes must be a text or a number, got ["add"]', inNode('arithmetic', { op: ['add'] })],
    ['type of a kernel\'s nodes must be a text or a number, got ["f32"]', inNode('constant', { type: ['f32'] })],
    [
      "name of a kernel's nodes must have at most 1024 letters, got 1000000",
      inNode('input', { name: 'x'.repeat(1e6) }),
    ],
    [
      'a label of a kernel must have at most 1024 letters, got 1000000',
      (json) => (json['labels'] = { 3: 'x'.repeat(1e6) }),
    ],
    ["a kernel's name must have at most 1024 letters, got 1000000", (json) => (json['name'] = 'x'.repeat(1e6))],
    [
      'the kernel cannot be read: a trap',
      (json) =>
        Object.defineProperty(json.nodes[0], 'type', {
          get: () => {
            throw new RangeError('a trap');
          },
        }),
    ],
  ])('%s, known before anything else is read', (detail, change) => {
    const unread = new Proxy([], {
      get: () => {
        throw new Error('the graph was read');
      },
    });
    for (const read of [kernelFromJson, checkKernel]) {
      expectInvalid(() => read(changed(change)), detail);
      if (detail.includes('nodes exceed')) {
        expectInvalid(() => read(changed((json) => (change(json), (json.outputs = unread)))), detail);
      }
    }
  });

  it('reads nothing that a kernel has not, however deep or large', () => {
    let deep: object = Object.freeze({});
    for (let level = 0; level < 100_000; level++) deep = Object.freeze({ deep });
    const data = changed((json) => Object.assign(json, { deep, self: json, big: 1n }));
    for (const read of [kernelFromJson, checkKernel]) expect(read(data)).toEqual(everything);
    const frozen = Object.freeze({ ...deepFreeze(changed(() => undefined) as object), deep });
    expect(checkKernel(frozen)).toBe(checkKernel(frozen));
  });

  it.each([null, undefined, 5, 'x'])('%s is no kernel', (value) => {
    const shown = typeof value === 'string' ? `"${value}"` : String(value);
    expectInvalid(() => kernelFromJson(value), `a kernel must be an object, got ${shown}`);
  });
});

describe('checkKernel', () => {
  it('gives a kernel of this package as it is, and a checked copy of what is like one', () => {
    expect(checkKernel(everything)).toBe(everything);
    const data = JSON.parse(JSON.stringify(everything)) as object;
    expect(checkKernel(data)).toEqual(everything);
    expectInvalid(() => checkKernel({ nodes: [] }), 'a kernel must hold a list, got undefined');
  });

  it('remembers a copy of what cannot be changed, and of nothing else', () => {
    const data = JSON.parse(JSON.stringify(everything)) as Json;
    expect(checkKernel(data)).not.toBe(checkKernel(data));
    Object.freeze(data.nodes);
    Object.freeze(data);
    const before = checkKernel(data).key;
    const constant = data.nodes.find((node) => node['kind'] === 'constant' && node['bits'] === 7) as { bits: number };
    constant.bits = 8;
    expect(checkKernel(data).key).not.toBe(before);
    const frozen = deepFreeze(JSON.parse(JSON.stringify(everything)) as object);
    expect(checkKernel(frozen)).toBe(checkKernel(frozen));
    const lists = [everything.outputs, everything.outputs.slice(0, 1)];
    const getter = Object.freeze({
      ...frozen,
      get nodes() {
        return everything.nodes;
      },
      get outputs() {
        return lists.shift();
      },
    });
    expect(checkKernel(getter).outputs).toHaveLength(2);
    expect(() => checkKernel(getter)).toThrow('no output depends on it');
  });
});

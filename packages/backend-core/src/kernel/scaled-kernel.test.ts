import { describe, expect, it } from 'vitest';
import { defineKernel, operandsOf } from './index.ts';
import { scaledKernel } from './scaled-kernel.ts';

const biased = defineKernel(
  'biased',
  { inputs: { acc: 'f32', bias: 'f32' }, params: { low: 'f32' } },
  ({ acc, bias, low }, k) => ({ c: k.name('result', k.max(k.add(acc, bias), low)) }),
);
const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);

describe('scaledKernel', () => {
  it('is beta C, or 0 where C is not read', () => {
    const reading = scaledKernel(undefined, true);
    expect(reading).toMatchObject({
      name: 'scale',
      hasRows: false,
      inputs: [{ name: 'acc' }],
      outputs: [{ name: 'c' }],
    });
    expect(reading.params).toHaveLength(1);
    expect(reading.nodes.at(-1)).toMatchObject({ op: 'mul' });
    const writing = scaledKernel(undefined, false);
    expect(writing).toMatchObject({ inputs: [], params: [], outputs: [{ level: 'element' }] });
    expect(writing.nodes).toMatchObject([{ kind: 'constant', bits: 0 }, { kind: 'spread' }]);
  });

  it('goes through an epilogue, which keeps its names, and its factor comes last', () => {
    const reading = scaledKernel(biased, true);
    expect([names(reading.inputs), names(reading.params), names(reading.outputs)]).toEqual([
      ['acc', 'bias'],
      ['low', 'beta of C'],
      ['c'],
    ]);
    const sum = reading.nodes.find((node) => 'op' in node && node.op === 'add');
    expect(reading.nodes[operandsOf(sum!)[0] as number]).toMatchObject({ op: 'mul' });
    expect(Object.values(reading.labels)).toEqual(['result']);
    const writing = scaledKernel(biased, false);
    expect([names(writing.inputs), names(writing.params)]).toEqual([['bias'], ['low']]);
    expect(writing.nodes.some((node) => 'name' in node && node.name === 'acc')).toBe(false);
  });

  it('has a factor apart from whatever an epilogue has', () => {
    const inputs = { acc: 'f32', "beta of C'": 'f32' } as const;
    const params = { 'beta of C': 'f32' } as const;
    const same = defineKernel('same', { inputs, params }, ({ acc, ...rest }, k) => ({
      c: k.add(k.add(acc, rest["beta of C'"]), rest['beta of C']),
    }));
    const { inputs: read, params: given, nodes } = scaledKernel(same, true);
    expect([names(read), names(given)]).toEqual([
      ['acc', "beta of C'"],
      ['beta of C', "beta of C''"],
    ]);
    const product = nodes.find((node) => 'op' in node && node.op === 'mul');
    expect(operandsOf(product!).map((at) => nodes[at])).toMatchObject([{ name: "beta of C''" }, { name: 'acc' }]);
    expect(names(scaledKernel(same, false).params)).toEqual(['beta of C']);
  });

  it('is made once', () => {
    for (const reads of [true, false]) {
      expect(scaledKernel(undefined, reads)).toBe(scaledKernel(undefined, reads));
      expect(scaledKernel(biased, reads)).toBe(scaledKernel(biased, reads));
    }
    expect(
      new Set([true, false].flatMap((reads) => [scaledKernel(biased, reads), scaledKernel(undefined, reads)])).size,
    ).toBe(4);
  });

  it('has room for the largest epilogue', () => {
    const params = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`p${i}`, 'f32' as const]));
    const largest = defineKernel('largest', { inputs: { acc: 'f32' }, params }, ({ acc, ...rest }, k) => {
      let c = Object.values(rest).reduce((a, b) => k.add(a, b), acc);
      for (let i = 0; i < 254 - 31; i++) c = k.neg(c);
      return { c };
    });
    expect(largest.nodes).toHaveLength(254);
    expect(scaledKernel(largest, true)).toMatchObject({ nodes: { length: 256 }, params: { length: 16 } });
    expect(scaledKernel(largest, false).nodes).toHaveLength(255);
  });
});

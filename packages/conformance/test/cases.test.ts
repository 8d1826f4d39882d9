import { OP_NAMES } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { allCases, findCase, selectCases } from '../src/index.ts';
import { SUITES } from '../src/select-cases.ts';
import { formatParams, parseParams } from '../src/harness/case.ts';

const CASES = allCases();

describe('the list of cases', () => {
  it('has distinct ids', () => {
    const seen = new Set<string>();
    const twice = CASES.filter(({ id }) => seen.size === seen.add(id).size).map(({ id }) => id);
    expect(twice).toEqual([]);
  });

  it('has at least 40 for each op, and 600 in all', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(600);
    for (const { op } of SUITES) {
      const count = CASES.filter((testCase) => testCase.op === op && !testCase.id.startsWith('fixed/')).length;
      expect(count, op).toBeGreaterThanOrEqual(40);
    }
  });

  it('is found again by every id, with the same parameters', () => {
    for (const { id, op, params } of CASES) expect(findCase(id), id).toMatchObject({ id, op, params });
  });

  it('can be rebuilt from every id of a suite alone', () => {
    const defaults = { m: 1, trans: 'NN', flag: false, list: [1, 1], text: 'none' };
    const params = { m: 17, trans: 'TC', flag: true, list: [3], text: 'a' };
    expect(formatParams(params, defaults)).toBe('m=17,TC,flag,list=3x,text=a');
    expect(parseParams(formatParams(params, defaults), defaults)).toEqual(params);
    expect(formatParams(defaults, defaults)).toBe('default');
    expect(parseParams('default', defaults)).toEqual(defaults);
  });

  it.each(['m=', 'm=x', 'nonsense=3', 'flag=maybe', 'list=3', 'list=axb', 'm=1,,'])('does not parse %s', (text) => {
    expect(parseParams(text, { m: 1, flag: false, list: [1] })).toBeUndefined();
  });

  it('replays ids that are not in the list', () => {
    const id = 'gemm/bounded/m=2,n=3,k=4,TN,alpha=-0.5,padA=7,offset=12,together,seed=99';
    expect(CASES.some((listed) => listed.id === id)).toBe(false);
    expect(findCase(id)).toMatchObject({ id, params: { m: 2, trans: 'TN', alpha: -0.5, together: true, seed: 99 } });
    expect(findCase('gemm/no-such-check/m=2')).toBeUndefined();
    expect(findCase('gemm/toString/m=2')).toBeUndefined();
    expect(findCase('gemm/exact/m=2/more')).toBeUndefined();
  });
});

describe('a filter', () => {
  const ids = (filter?: string): string[] => selectCases(filter).map(({ id }) => id);
  const allIds = CASES.map(({ id }) => id);

  it('selects all when there is none', () => {
    expect(ids()).toEqual(allIds);
    expect(ids('')).toEqual(allIds);
  });

  it('takes the name of an op for all of its cases, fixed/ included', () => {
    expect(ids('gemm')).toEqual(allCases().flatMap(({ id, op }) => (op === 'gemm' ? [id] : [])));
    expect(ids('gemm')).toContain('fixed/number/gemm k 0');
  });

  it('takes a bare folder for everything below it', () => {
    expect(ids('fixed')).toEqual(allIds.filter((id) => id.startsWith('fixed/')));
    expect(ids('gemm/exact')).toEqual(allIds.filter((id) => id.startsWith('gemm/exact/')));
  });

  it('is a glob', () => {
    expect(ids('*/repeat')).toEqual(allIds.filter((id) => id.split('/')[1] === 'repeat'));
    expect(ids('!fixed/**')).toEqual(allIds.filter((id) => !id.startsWith('fixed/')));
  });

  it('is a glob where a star or question mark stands after a number or a name, and never an id of NaN', () => {
    for (const glob of [
      'attention/bounded/seqQ=64,seqKv=1100*',
      'gemm/exact/m=1*',
      'gemm/exact/m=1?*',
      'unary/bounded/op=re*',
    ]) {
      const pattern = new RegExp(`^${glob.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}$`);
      expect(ids(glob), glob).toEqual(allIds.filter((id) => pattern.test(id)));
    }
    expect(ids('gemm/exact/m=1*').length).toBeGreaterThan(1);
    for (const id of ['gemm/exact/m=17x', 'gemm/exact/m=1.2.3', 'gemm/exact/m=Infinity2']) {
      expect(findCase(id), id).toBeUndefined();
    }
  });

  it('takes an exact id for one case, with all its commas and brackets', () => {
    for (const id of allIds) expect(selectCases(id), id).toHaveLength(1);
  });

  it('may select nothing', () => {
    expect(ids('no such op')).toEqual([]);
  });
});

describe('a sample', () => {
  const ids = (sample: number, filter?: string): string[] => selectCases({ filter, sample }).map(({ id }) => id);

  it('is about that fraction of each op, and every fixed/ case', () => {
    const sampled = selectCases({ sample: 0.1 });
    const isFixed = ({ id }: { id: string }): boolean => id.startsWith('fixed/');
    expect(sampled.filter(isFixed)).toHaveLength(CASES.filter(isFixed).length);
    for (const op of [...OP_NAMES, 'memory', 'lifecycle']) {
      const count = (cases: typeof CASES): number => cases.filter((one) => one.op === op && !isFixed(one)).length;
      expect(count(sampled) / count(CASES), op).toBeGreaterThan(0.03);
      expect(count(sampled) / count(CASES), op).toBeLessThan(0.3);
    }
  });

  it('is the same for ever, and part of every larger one', () => {
    expect(ids(0.1, 'reduce/exact')).toMatchInlineSnapshot(`
      [
        "reduce/exact/fn=max,shape=5x7,axis=1",
        "reduce/exact/fn=max,shape=3x4x5,axis=1",
        "reduce/exact/fn=min,shape=257x",
        "reduce/exact/fn=min,shape=5x7",
        "reduce/exact/fn=min,shape=2x1x3,axis=1",
        "reduce/exact/fn=mean,shape=5x7,axis=1",
        "reduce/exact/shape=70001x2,axis=1",
        "reduce/exact/fn=min,shape=4x0x3,axis=1",
      ]
    `);
    expect(ids(0.5)).toEqual(expect.arrayContaining(ids(0.1)));
    expect(ids(1)).toEqual(CASES.map(({ id }) => id));
  });

  it('is taken of what the filter leaves, but never of one exact id', () => {
    const gemm = new Set(ids(1, 'gemm'));
    expect(ids(0.5, 'gemm')).toEqual(ids(0.5).filter((id) => gemm.has(id)));
    for (const { id } of CASES.slice(-5)) expect(ids(0.001, id)).toEqual([id]);
  });

  it('and what comes after it are all cases, each once', () => {
    const after = (sample?: number): string[] => selectCases({ sample, after: 0.1 }).map(({ id }) => id);
    const tenth = new Set(ids(0.1));
    expect([...tenth, ...after()].sort()).toEqual(ids(1).sort());
    expect(after(0.3)).toEqual(ids(0.3).filter((id) => !tenth.has(id)));
  });

  it.each([0, -0.1, 1.01, NaN])('of %d is refused', (sample) => {
    expect(() => selectCases({ sample })).toThrow(RangeError);
  });

  it.each([1, -0.1, NaN])('after %d is refused', (after) => {
    expect(() => selectCases({ after })).toThrow(RangeError);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { BINARY_OPS, UNARY_OPS } from '@concord/backend-core';
import { expect, test } from 'vitest';
import { ATTENTION_FORMULA, GAMMA_FORMULA, PRODUCT_FORMULA, REDUCE_FORMULA } from '../src/checks/compare.ts';
import { binaryFormula, binaryUlps, unaryFormula, unaryUlps } from '../src/checks/elementwise.ts';
import { type CaseDescription, describeCase } from '../src/describe-case.ts';
import { allCases, findCase, selectCases } from '../src/index.ts';

const describeId = async (id: string): Promise<CaseDescription> => {
  const found = findCase(id);
  if (found === undefined) throw new Error(`no case ${id}`);
  return describeCase(found);
};

test('every case has words, and a bound where it is not exact', () => {
  for (const { id, about } of allCases()) {
    const text = about?.();
    expect(text?.does, id).toMatch(/^[A-Z].*\.$/s);
    expect(text?.passes, id).toMatch(/\.$/);
    expect(text?.bound !== undefined || !['bounded', 'function accuracy'].includes(text?.kind ?? ''), id).toBe(true);
    expect(JSON.stringify(text), id).not.toMatch(
      /undefined|\bnull\b(?! pointers| A and B| input| output|\.|")|\[object/,
    );
  }
});

test('tells shapes, ranges and the bound of a product', async () => {
  const got = await describeId('gemm/bounded/m=65,n=67,k=129,TN,alpha=0.3,beta=-1.7');
  expect(got).toMatchObject({
    ...{ op: 'gemm', seed: got.id, needs: { op: 'gemm', dtype: 'f32' }, kind: 'bounded', callCount: 1 },
    bound: { formula: PRODUCT_FORMULA, where: { k: 129, alpha: 0.3, beta: -1.7 } },
  });
  const [call] = got.calls;
  expect(call?.arguments).toMatchObject({ m: 65, n: 67, k: 129, transA: 'T', transB: 'N', lda: 65, ldb: 67, ldc: 67 });
  expect(call?.operands.map(({ name, role, elements }) => [name, role, elements])).toEqual([
    ['a', 'input', 65 * 129],
    ['b', 'input', 67 * 129],
    ['c', 'input and output', 65 * 67],
  ]);
  for (const { lowest, highest } of call?.operands ?? []) {
    expect(lowest).toBeLessThan(-1);
    expect(highest).toBeGreaterThan(1);
  }
});

test('sees the same operands as a device does', async () => {
  const { calls } = await describeId('gemm/exact/m=13,n=22,k=31,padA=3,padB=5,padC=7');
  expect(calls[0]?.operands).toEqual([
    { name: 'a', role: 'input', dtype: 'f32', elements: 12 * 34 + 31, lowest: -8, highest: 8, nan: 36, infinite: 0 },
    { name: 'b', role: 'input', dtype: 'f32', elements: 30 * 27 + 22, lowest: -8, highest: 8, nan: 150, infinite: 0 },
    {
      ...{ name: 'c', role: 'output', dtype: 'f32', elements: 12 * 29 + 22 },
      ...{ lowest: null, highest: null, nan: 0, infinite: 0 },
    },
  ]);
  const f16 = await describeId('gemmF16/exact/m=3,n=5,k=7');
  expect(f16.calls[0]?.operands.map(({ dtype }) => dtype)).toEqual(['f16', 'f16', 'f16']);
});

test('shows a wrong call as it is made, and counts many', async () => {
  const short = await describeId('gemm/refuses/short lda');
  expect(short.calls).toEqual([{ op: 'gemm', arguments: { m: 3, n: 4, k: 5, lda: 4 }, operands: [] }]);
  expect(short.passes).toContain('lda must be at least');
  const bad = await describeId('gemm/refuses/bad m');
  expect(bad.callCount).toBeGreaterThan(bad.calls.length);
  expect((await describeId('gemm/refuses/no call object')).calls[0]?.arguments).toEqual({ call: 'undefined' });
});

test('describes a sample of all kinds, and replayed ids', async () => {
  for (const testCase of selectCases({ sample: 0.05 })) {
    const got = await describeCase(testCase);
    expect(got.id).toBe(testCase.id);
    const isNumeric = !['behaviour', 'property'].includes(got.kind);
    expect(!isNumeric || got.callCount > 0, got.id).toBe(true);
  }
  const id = 'reduce/bounded/fn=mean,shape=40x3,seed=7';
  expect((await describeId(id)).bound?.where).toMatchObject({ n: 40, d: 40 });
});

test('refuses an id that no backend could pass', async () => {
  await expect(describeId('unary/accuracy/fn=nonsense')).rejects.toThrow(RangeError);
});

test('every formula is one of docs/numerics.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/numerics.md'), 'utf8');
  const docs = page.replaceAll('`', '').replaceAll('\\|', '|').replace(/\s+/g, ' ');
  for (const formula of [PRODUCT_FORMULA, REDUCE_FORMULA, ATTENTION_FORMULA]) expect(docs).toContain(formula);
  for (const part of GAMMA_FORMULA.split(', ')) expect(docs).toContain(part);
  const rows = page.split('\n').map((line) =>
    line
      .replaceAll('\\|', '¦')
      .split('|')
      .map((cell) => cell.trim()),
  );
  const inDocs = (fn: string): string | undefined =>
    rows.find(([, names]) => names?.split(', ').includes(fn))?.[2]?.replaceAll('¦', '|');
  for (const fn of UNARY_OPS) expect(inDocs(fn), fn).toBe(unaryFormula(fn));
  for (const fn of BINARY_OPS) expect(inDocs(fn), fn).toBe(binaryFormula(fn));
});

test('every formula is what is worked out', () => {
  const evaluate = (formula: string, x: number, y: number): number => {
    // As the docs write it; |..| nests once, around a product.
    const code = formula
      .replace('|y log2|x||', 'Math.abs(y * Math.log2(Math.abs(x)))')
      .replace('|x|', 'Math.abs(x)')
      .replace('|y|', 'Math.abs(y)')
      .replace('x^2', 'x ** 2')
      .replace(/(\d)(?=Math|x)/g, '$1 * ');
    return Number(runInNewContext(code, { x, y }));
  };
  for (const fn of UNARY_OPS) expect(unaryUlps(fn, -3), fn).toBe(evaluate(unaryFormula(fn), -3, 0));
  for (const fn of BINARY_OPS) expect(binaryUlps(fn, 3, -5), fn).toBeCloseTo(evaluate(binaryFormula(fn), 3, -5), 9);
});

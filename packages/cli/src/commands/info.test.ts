import { expect, test } from 'vitest';
import { run, working } from '../../test/fakes.ts';
import { editDistance, nearIds } from '../near-ids.ts';
import type { InfoJson } from './info.ts';

const cpu = working('cpu');
const info = (...args: readonly string[]) => run(['info', ...args], [cpu]);

test('says what a case does, with its inputs and its bound', async () => {
  const { code, stdout, stderr } = await info('gemm/bounded/m=1,n=100,k=1000');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^gemm\/bounded\/n=100,k=1000\n\nMultiplies random matrices/);
  expect(stdout).toMatch(/^Call +gemm  m 1  n 100  k 1000 /m);
  expect(stdout).toMatch(/^ +a: 1,000 elements of f32, input, -1\d\.\d+ to 1\d\.\d+$/m);
  expect(stdout).toContain('Bound    |alpha| gamma(k+3) sum|a||b| + gamma(3) |beta||c| + (|alpha| k + 2) 2^-126\n');
  expect(stdout).toMatch(/^ +gamma\(k\+3\) = 0\.0001195\d+$/m);
  expect(stdout).toMatch(/^ +gamma\(n\) = n u \/ \(1 - n u\), u = 2\^-23$/m);
  expect(stdout).toMatch(/^Run it +concord conformance --filter 'gemm\/bounded\/n=100,k=1000'$/m);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});

test('says what a wrong call must give', async () => {
  const { stdout } = await info('gemm/refuses/short lda');
  expect(stdout).toMatch(/^Call +gemm  m 3  n 4  k 5  lda 4$/m);
  expect(stdout).toContain('INVALID_ARGUMENT');
  expect(stdout).not.toContain('Bound');
});

test('prints JSON', async () => {
  const { code, stdout } = await info('--json', 'gemm/scalars/m=9,n=11,k=6,alpha=NaN');
  expect(code).toBe(0);
  const description = JSON.parse(stdout) as InfoJson;
  expect(description).toMatchObject({ op: 'gemm', kind: 'exact', params: { alpha: 'NaN', m: 9 }, callCount: 1 });
  expect(JSON.parse((await info('--json', 'gemm/refuses/bad m')).stdout)).toMatchObject({ kind: 'behaviour' });
});

test('describes a case that fuzz printed', async () => {
  expect((await info('reduce/bounded/fn=min,shape=3x40,axis=1,seed=99')).code).toBe(0);
});

test.each([
  ['gemm/exact/m=17,n=33,k=65,NTT', "did you mean 'gemm/exact/m=17,n=33,k=65,NT' or 'gemm/exact/m=17,n=33,k=65,"],
  ['fixed/number/gem k 0', "did you mean 'fixed/number/gemm k 0' or"],
  ['gemm/exact', "that is \\d+ cases; the first is 'gemm/exact/default'"],
  ['?', 'ids look like'],
  ['unary/accuracy/fn=nonsense', 'did you mean'],
])('%s is no case', async (id, hint) => {
  const { code, stdout, stderr } = await info(id);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^error: no case "[^\\n]+ \\(NO_SUCH_CASE\\)\\nhint: ${hint}`));
});

test('needs an id', async () => {
  const { code, stderr } = await info();
  expect(code).toBe(2);
  expect(stderr).toContain('(USAGE)');
});

test('nearness is the number of changes', () => {
  expect([editDistance('', 'abc'), editDistance('kitten', 'sitting'), editDistance('a', 'a')]).toEqual([3, 3, 0]);
  expect(nearIds('GEMM', ['gem', 'gemm', 'attention'])).toEqual(['gemm', 'gem']);
});

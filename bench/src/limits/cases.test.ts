import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { NotHere, UsageError } from '../options.ts';
import { type CaseSet, casesOf, selectCases } from './cases.ts';

const SCRIPT = join(import.meta.dirname, '../../limits/torch_limits.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;

it('has no case twice', () => {
  for (const set of ['gpu', 'software', 'cpu', 'levelZero', 'wasm', 'quick'] as const) {
    const names = casesOf(set).map(({ op, name }) => `${op} ${name}`);
    expect(new Set(names).size).toBe(names.length);
  }
});

it.skipIf(!hasPython)('names the cases as the script for PyTorch does', () => {
  const ours = (set: CaseSet): string[] => casesOf(set).map(({ op, name }) => `${op} ${name}`);
  const theirs = (set: CaseSet): string[] => {
    const { stdout, stderr } = spawnSync('python3', [SCRIPT, '--set', set, '--list'], { encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  };
  expect(theirs('gpu')).toEqual(ours('gpu'));
  expect(theirs('quick')).toEqual(ours('quick'));
});

it('selects by ops and name, and tells what cannot be meant from what has no case here', () => {
  const names = (only?: string, name?: string): string[] =>
    selectCases(casesOf('gpu'), only, name).map((each) => `${each.op} ${each.name}`);
  expect(names('gemm,gemm_f16', '4096')).toEqual(['gemm 4096', 'gemm_f16 4096']);
  expect(names('reduce_max', '8192x8192@0')).toEqual(['reduce_max 8192x8192@0']);
  expect(() => names('gem')).toThrow(UsageError);
  expect(() => names('gemm', '4097')).toThrow(NotHere);
});

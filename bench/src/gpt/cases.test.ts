import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fromF16Array } from '@concord/backend-core';
import { expect, it } from 'vitest';
import { byHeads } from '../onnx/gpt2.ts';
import { cachedRows, GPT_SIZES, gptCases, type GptSize, gptWeights, sizeOf } from './cases.ts';

const SCRIPT = join(import.meta.dirname, '../../limits/torch_gpt.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;

it('has no case twice, and a token in three ways', () => {
  const names = gptCases(GPT_SIZES['small'] as GptSize, ['f32', 'f16']).map(({ op, name }) => `${op} ${name}`);
  expect(new Set(names).size).toBe(names.length);
  expect(names.slice(0, 5)).toEqual([
    'gpt_decode f32 at 512',
    'gpt_decode f32 at 512, read each',
    'gpt_decode f32 from 512 on',
    'gpt_prefill f32 1x1024',
    'gpt_prefill f32 8x1024',
  ]);
});

it.skipIf(!hasPython).each(Object.entries(GPT_SIZES))(
  'names what PyTorch is timed with as its script does: %s',
  (name, size) => {
    const { stdout, stderr } = spawnSync('python3', [SCRIPT, '--size', name, '--list'], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const ours = gptCases(size, ['f32', 'f16']).map(({ op, limitName }) => `${op} ${limitName}`);
    expect(stdout.trim().split('\n')).toEqual([...new Set(ours)]);
  },
);

const { config } = GPT_SIZES['small'] as GptSize;

it('has the 124 million weights of GPT-2 small', () => {
  expect(gptWeights(config).reduce((sum, { shape }) => sum + sizeOf(shape), 0)).toBe(124_439_808);
});

it('gives everybody the same numbers, spread as they are in GPT-2, and others to each weight', () => {
  const [first, second] = gptWeights(config).filter(({ name }) => name.endsWith('c_fc.bias'));
  const numbers = first?.elements('f32').numbers as Float32Array;
  expect(numbers).toEqual(first?.elements('f32').numbers);
  expect(numbers).not.toEqual(second?.elements('f32').numbers);
  const deviation = Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0) / numbers.length);
  expect(deviation).toBeCloseTo(0.02, 3);
  const factors = gptWeights(config)
    .find(({ name }) => name === 'ln_f.weight')
    ?.elements('f32').numbers as Float32Array;
  expect(Math.min(...factors)).toBeGreaterThan(0.96);
});

it('stores f16 as bits of the same numbers', () => {
  const { numbers, stored } = cachedRows({ ...config, n_embd: 4 }, 0, 3, 'f16');
  expect(numbers).toHaveLength(36);
  expect(fromF16Array(stored as Uint16Array)).toEqual(numbers);
});

it('turns rows of queries, keys and values into those of each head', () => {
  // Two tokens of two heads of one entry each.
  const rows = Float32Array.of(1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16);
  expect([...byHeads(rows, { n_embd: 2, n_head: 2 }, 2, 1)]).toEqual([3, 13, 4, 14]);
  expect([...byHeads(rows, { n_embd: 2, n_head: 2 }, 2, 2)]).toEqual([5, 15, 6, 16]);
});

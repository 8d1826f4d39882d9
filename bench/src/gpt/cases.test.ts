import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { GPT_SIZES, gptCases, type GptSize } from './cases.ts';

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

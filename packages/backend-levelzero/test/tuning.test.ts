import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeTuning } from '../../variants/test/describe-tuning.ts';
import { LevelZeroBackend, levelZeroVariants } from '../src/index.ts';
import { VERSION } from '../src/version.ts';

describeTuning('level-zero', VERSION, (options) => new LevelZeroBackend(options));

it('a processor multiplies by wide, and can by direct', async () => {
  await using backend = await LevelZeroBackend.create();
  expect(backend.native.tuning.choices('gemm', { m: 64, n: 64, k: 64 })).toEqual([
    {
      shapeClass: 'gemm f32 NN 6 6 6 0',
      candidates: ['gemm/wide', 'gemm/direct'],
      preferred: 'gemm/wide',
      picked: 'gemm/wide',
    },
  ]);
});

it('says its version', () => {
  const manifest: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));
  expect(manifest).toHaveProperty('version', VERSION);
});

it('the README has every variant, and no other', () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const families = new Set(levelZeroVariants.ids.map((id) => id.split('/')[0]));
  const all = [...readme.matchAll(/`(([a-z\d-]+)\/[\w-]+)`/g)];
  const named = all.flatMap(([, id, family]) => (families.has(family) ? id : []));
  expect(new Set(named)).toEqual(new Set(levelZeroVariants.ids));
});

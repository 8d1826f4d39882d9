import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { webgpuVariants } from './all-variants.ts';

it('the README has every variant, and no other', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const named = [...readme.matchAll(/`((?:gemm|conv2d|attention|map|rows|columns|stages)\/[\w-]+)`/g)].map(
    ([, id]) => id,
  );
  expect(new Set(named)).toEqual(new Set(webgpuVariants.ids));
});

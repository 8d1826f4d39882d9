import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { webgpuVariants } from './all-variants.ts';

it('the README has every variant, and no other', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const families = new Set(webgpuVariants.ids.map((id) => id.split('/')[0]));
  const named = [...readme.matchAll(/`(([a-z\d-]+)\/[\w-]+)`/g)].flatMap(([, id, family]) =>
    families.has(family) ? id : [],
  );
  expect(new Set(named)).toEqual(new Set(webgpuVariants.ids));
});

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { webgpuVariants } from './families.ts';

it('the README has every variant, and no other', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const families = new Set(webgpuVariants.ids.map((id) => id.split('/')[0]));
  const named = [...readme.matchAll(/`(([a-z\d-]+)\/[\w-]+)`/g)].flatMap(([, id, family]) =>
    families.has(family) ? id : [],
  );
  expect(new Set(named)).toEqual(new Set(webgpuVariants.ids));
});

it('profiles that are shipped name variants that exist', () => {
  const named = (webgpuVariants.shipped ?? []).flatMap(({ choices }) => Object.values(choices));
  expect(named.length).toBeGreaterThan(0);
  expect(webgpuVariants.ids).toEqual(expect.arrayContaining(named));
});

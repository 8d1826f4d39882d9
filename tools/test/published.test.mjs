// @ts-check
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { root } from '../lib/paths.mjs';
import { publishedPackages } from '../lib/published.mjs';

/** @type {string} */
let checkout;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'concord-published-test-'));
});
afterEach(() => rmSync(checkout, { recursive: true }));

/** @param {string} name @param {object} [manifest] */
function add(name, manifest = {}) {
  mkdirSync(join(checkout, 'packages', name), { recursive: true });
  writeFileSync(
    join(checkout, 'packages', name, 'package.json'),
    JSON.stringify({ name, version: '1.0.0', ...manifest }),
  );
}

const names = (folder = checkout) => publishedPackages(folder).map(({ manifest }) => manifest.name);

test('a package comes after those it depends on, a private one not at all', () => {
  add('a', { dependencies: { c: '*', elsewhere: '*' } });
  add('b', { devDependencies: { a: '*' } });
  add('c', { dependencies: { d: '*' } });
  add('d');
  add('hidden', { private: true });
  mkdirSync(join(checkout, 'packages/left-over/dist'), { recursive: true });
  expect(names()).toEqual(['b', 'd', 'c', 'a']);
});

test('a cycle is said, not run in', () => {
  add('a', { dependencies: { b: '*' } });
  add('b', { dependencies: { a: '*' } });
  expect(() => names()).toThrow('a cycle among a, b');
});

test('core comes before the command in this checkout', () => {
  expect(names(root).indexOf('@concord/backend-core')).toBeLessThan(names(root).indexOf('@concord/cli'));
  expect(names(root).at(-1)).toBe('@concord/cli');
});

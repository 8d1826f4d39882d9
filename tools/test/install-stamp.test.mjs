// @ts-check
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isInstalled, markInstalled } from '../lib/install-stamp.mjs';

/** @type {string} */
let checkout;

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'concord-stamp-'));
  for (const folder of ['packages/a', 'examples/b', 'node_modules']) {
    mkdirSync(join(checkout, folder), { recursive: true });
  }
  for (const file of ['package.json', 'packages/a/package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']) {
    writeFileSync(join(checkout, file), '{}');
  }
});

afterEach(() => rmSync(checkout, { recursive: true, force: true }));

test('an untouched checkout stays installed', () => {
  expect(isInstalled(checkout)).toBe(false);
  markInstalled(checkout);
  expect(isInstalled(checkout)).toBe(true);
});

test.each(['packages/a/package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'examples/b/package.json'])(
  'a change of %s asks for an install',
  (file) => {
    markInstalled(checkout);
    writeFileSync(join(checkout, file), '{ "dependencies": {} }');
    expect(isInstalled(checkout)).toBe(false);
  },
);

test('removed node_modules ask for an install', () => {
  markInstalled(checkout);
  rmSync(join(checkout, 'node_modules'), { recursive: true });
  expect(isInstalled(checkout)).toBe(false);
});

// @ts-check
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findBrokenLinks } from '../lib/broken-links.mjs';

const folder = mkdtempSync(join(tmpdir(), 'concord-links-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a link that leads nowhere is found, in the page, in another and out of the folder', () => {
  mkdirSync(join(folder, 'classes'));
  writeFileSync(
    join(folder, 'index.html'),
    `<h1 id="top">x</h1><a href="#top"><a href="#nowhere"><a href="classes/a.html#one"><a href="classes/a.html#two">
     <a href="classes/b.html"><a href="https://example.org/gone"><a href="../secret.html"><a href="classes">`,
  );
  writeFileSync(
    join(folder, 'classes/a.html'),
    `<a id="one" href="../index.html"><a id="p&amp;q" href="#p&amp;q"><img src="a.png?x=1">`,
  );
  const { pages, links, broken } = findBrokenLinks(folder);
  expect({ pages, links }).toEqual({ pages: 2, links: 10 });
  expect(broken.map(({ page, link }) => `${page} ${link}`)).toEqual([
    'index.html #nowhere',
    'index.html classes/a.html#two',
    'index.html classes/b.html',
    'index.html ../secret.html',
    'index.html classes',
    join('classes', 'a.html a.png?x=1'),
  ]);
});

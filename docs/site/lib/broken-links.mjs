// @ts-check
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** @typedef {{ page: string, link: string }} BrokenLink */

/** @param {string} text of an attribute */
const plain = (text) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/**
 * Links of the pages below a folder that lead to a file or an anchor that is not there. A link that ends in `/` leads to the
 * `index.html` of that folder. Links to other hosts are not tried.
 *
 * @param {string} folder
 * @returns {{ pages: number, links: number, broken: BrokenLink[] }}
 */
export function findBrokenLinks(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'));
  const pages = new Map(files.map((file) => [resolve(folder, file), readFileSync(join(folder, file), 'utf8')]));
  const anchors = new Map(
    [...pages].map(([file, html]) => [
      file,
      new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => plain(id))),
    ]),
  );
  let links = 0;
  /** @type {BrokenLink[]} */
  const broken = [];
  for (const [file, html] of pages) {
    for (const [, link = ''] of html.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
      if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(link)) continue;
      links++;
      const [path = '', anchor = ''] = link.split('#').map((part) => decodeURIComponent(plain(part)));
      const named = path === '' ? file : resolve(dirname(file), path.replace(/\?.*$/, ''));
      const target = path.endsWith('/') ? join(named, 'index.html') : named;
      const isInside = target.startsWith(resolve(folder) + sep);
      const isThere = isInside && existsSync(target) && statSync(target).isFile();
      if (!isThere || (anchor !== '' && anchors.get(target)?.has(anchor) === false)) {
        broken.push({ page: relative(folder, file), link });
      }
    }
  }
  return { pages: pages.size, links, broken };
}

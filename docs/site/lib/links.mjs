// @ts-check
// Links in pages are as GitHub wants them: paths of files, from the file that has the link. The site has these files at
// other addresses, and not all of them.
import { existsSync, statSync } from 'node:fs';
import { dirname, posix, relative, resolve, sep } from 'node:path';
import { isPage, pageOf } from './pages.mjs';

/** @typedef {{ type: string, tag: string, attrs: [string, string][] | null, children: Token[] | null }} Token */

/**
 * A markdown-it plugin: a link to a file that is a page leads to that page, one to another file of the checkout becomes text
 * that tells its path.
 *
 * @param {string} root the top folder of the checkout
 * @returns {(md: any) => void}
 */
export function linksOf(root) {
  return (md) => {
    md.core.ruler.push(
      'links-between-files',
      (/** @type {{ tokens: Token[], env: Environment }} */ { tokens, env }) => {
        const path = env.realPath ?? env.path;
        // The title of a page is rendered by itself.
        if (path === undefined) return;
        const file = relative(root, path).split(sep).join('/');
        for (const { children } of tokens) if (children !== null) rewriteLinks(root, file, children);
      },
    );
  };
}

/** @typedef {{ path?: string, realPath?: string }} Environment `realPath`: where `path` is rewritten */

/** @param {string} root @param {string} file with the links @param {Token[]} tokens of one paragraph */
function rewriteLinks(root, file, tokens) {
  let isText = false;
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const href = token.attrs?.find(([name]) => name === 'href')?.[1] ?? '';
      if (/^(?:[a-z][a-z0-9+.-]*:|[#/])/i.test(href)) continue;
      const attributes = attributesOf(root, file, href);
      token.attrs = [...attributes, ...(token.attrs ?? []).filter(([name]) => name !== 'href')];
      isText = attributes.every(([name]) => name !== 'href');
      if (isText) token.tag = 'span';
    } else if (token.type === 'link_close' && isText) {
      token.tag = 'span';
      isText = false;
    }
  }
}

/** @param {string} root @param {string} file @param {string} href @returns {[string, string][]} */
function attributesOf(root, file, href) {
  const [path = '', anchor] = href.split('#');
  let target = posix.normalize(posix.join(posix.dirname(file), decodeURI(path))).replace(/\/$/, '');
  const absolute = resolve(root, target);
  if (!existsSync(absolute)) throw new Error(`${file}: ${href} leads to no file`);
  if (statSync(absolute).isDirectory() && existsSync(resolve(absolute, 'README.md'))) target += '/README.md';
  const from = dirname(pageOf(file));
  if (!isPage(target))
    return [
      ['class', 'in-repository'],
      ['title', `${target}, in the repository`],
    ];
  const address = posix.relative(from, pageOf(target));
  return [['href', (address.startsWith('.') ? address : `./${address}`) + (anchor === undefined ? '' : `#${anchor}`)]];
}

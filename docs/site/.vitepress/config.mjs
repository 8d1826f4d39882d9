// @ts-check
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { slug } from 'github-slugger';
import { defineConfig } from 'vitepress';
import { linksOf } from '../lib/links.mjs';
import { nav, sidebar } from '../lib/navigation.mjs';
import { NO_PAGES, pageOf } from '../lib/pages.mjs';
import { STAND_IN, viteForRelativeBase, withRelativeBase } from '../lib/relative-base.mjs';
import { search } from '../lib/search.mjs';
import { viteForPages } from '../lib/vite-for-pages.mjs';

const site = fileURLToPath(new URL('..', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A host shows it for an address at any depth, so nothing relative works in it. */
const NOT_FOUND = `<!DOCTYPE html>
<html lang="en" style="color-scheme: light dark">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width" />
  <title>Not found | Concord</title>
  <body style="font-family: sans-serif; margin: 3rem">
    <h1>There is no such page</h1>
    <p>Remove the end of the address, up to the name of the site, to get to its start.</p>
  </body>
</html>
`;

/** @param {{ command: string }} run */
export default ({ command }) => {
  const isBuild = command === 'build';
  const links = sidebar(root);
  const listed = JSON.stringify(links);
  return defineConfig({
    title: 'Concord',
    description: 'GPU compute for TypeScript: one contract, many devices, the same answer on each.',
    lang: 'en',
    base: isBuild ? STAND_IN : '/',
    // A browser looks for a relative icon again from every page that it goes to without loading it.
    head: [
      [
        'link',
        {
          rel: 'icon',
          href: `data:image/svg+xml,${encodeURIComponent(readFileSync(`${site}public/logo.svg`, 'utf8'))}`,
        },
      ],
    ],
    // Pages stay where GitHub shows them: here, in docs/, in bench/, beside the packages.
    srcDir: root,
    srcExclude: NO_PAGES,
    rewrites: pageOf,
    outDir: 'dist',
    cacheDir: 'node_modules/.vitepress',
    markdown: {
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
      anchor: { slugify: (text) => slug(text) },
      config: linksOf(root),
      image: { lazyLoading: true },
    },
    // Of a page that the sidebar does not list, VitePress takes the first one there for the next.
    transformPageData: ({ relativePath, frontmatter }) =>
      listed.includes(`"/${relativePath.replace(/(index)?\.md$/, '')}"`)
        ? undefined
        : { frontmatter: { ...frontmatter, prev: false, next: false } },
    transformHtml: (html, _, { page }) => (page === '404.md' ? NOT_FOUND : withRelativeBase(html, page)),
    vite: viteForPages(site, isBuild ? viteForRelativeBase() : {}),
    themeConfig: {
      logo: '/logo.svg',
      search,
      outline: { level: [2, 3] },
      externalLinkIcon: true,
      nav,
      sidebar: links,
    },
  });
};

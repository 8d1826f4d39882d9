// @ts-check
// `npm run docs:build`: writes the site to docs/site/dist.
import { fileURLToPath } from 'node:url';
import { build } from 'vitepress';

await build(fileURLToPath(new URL('.', import.meta.url)));

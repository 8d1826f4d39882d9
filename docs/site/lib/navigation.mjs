// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** @typedef {import('vitepress').DefaultTheme.NavItem} NavItem */
/** @typedef {import('vitepress').DefaultTheme.SidebarItem} SidebarItem */

/** @type {NavItem[]} */
export const nav = [
  { text: 'Start', link: '/start/node', activeMatch: '/start/' },
  { text: 'Recipes', link: '/recipes/', activeMatch: '/recipes/' },
  { text: 'Functions', link: '/functions' },
  { text: 'Reference', link: '/contract' },
  { text: 'Benchmarks', link: '/benchmarks/', activeMatch: '/benchmarks/' },
  { text: 'Playground', link: '/playground' },
  { text: 'Test my GPU', link: '/test-my-gpu' },
];

/** @param {string} file */
const titleOf = (file) => /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]?.replaceAll('`', '') ?? file;

/** @param {string} root @param {string} parent @returns {SidebarItem[]} the READMEs below a folder */
function readmes(root, parent) {
  return readdirSync(join(root, parent))
    .filter((name) => existsSync(join(root, parent, name, 'README.md')))
    .map((name) => ({ text: name, link: `/${parent}/${name}` }));
}

/** @param {string} root @returns {SidebarItem[]} a page for each module that users import */
function apiPages(root) {
  const pages = join(root, 'api-reference/pages');
  return readdirSync(pages, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && name !== 'index.md' && name !== 'functions.md')
    .map((name) => name.split(sep).join('/').replace(/\.md$/, ''))
    .sort()
    .map((name) => ({ text: name, link: `/api/${name}` }));
}

/** @param {string} root @returns {SidebarItem[]} */
function decisions(root) {
  return readdirSync(join(root, 'docs/decisions'))
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .map((name) => ({
      text: titleOf(join(root, 'docs/decisions', name)),
      link: `/decisions/${name.replace(/\.md$/, '')}`,
    }));
}

/** @param {string} root the top folder of the checkout @returns {SidebarItem[]} */
export function sidebar(root) {
  return [
    {
      text: 'Concord',
      items: [
        { text: 'What it is, and is not', link: '/what-it-is' },
        { text: 'Concepts', link: '/concepts' },
        { text: 'Playground', link: '/playground' },
        { text: 'Test my GPU', link: '/test-my-gpu' },
        { text: 'A language model', link: '/lm' },
        { text: 'Read a picture', link: '/ocr' },
        { text: 'Training', link: '/train' },
      ],
    },
    {
      text: 'Getting started',
      items: [
        { text: 'Node', link: '/start/node' },
        { text: 'A browser', link: '/start/browser' },
        { text: 'A worker', link: '/start/worker' },
        { text: 'React', link: '/start/react' },
      ],
    },
    {
      text: 'Guide',
      items: [
        { text: 'Debugging', link: '/guide/debugging' },
        { text: 'What ran, and how long', link: '/profile' },
        { text: 'Your own kernel', link: '/recipes/custom-kernel' },
        { text: 'Your own shader', link: '/recipes/custom-shader' },
        { text: 'Keep weights', link: '/guide/caching' },
        { text: 'Size of what you ship', link: '/guide/size' },
        { text: 'Browsers and devices tried', link: '/guide/browsers' },
        { text: 'Versions', link: '/guide/versions' },
      ],
    },
    {
      text: 'Recipes',
      link: '/recipes/',
      items: [
        { text: 'Bias and activation', link: '/recipes/bias' },
        { text: 'Softmax', link: '/recipes/softmax' },
        { text: 'LayerNorm', link: '/recipes/layer-norm' },
        { text: 'Attention heads', link: '/recipes/heads' },
        { text: 'Pooling', link: '/recipes/pooling' },
        { text: 'Search', link: '/recipes/search' },
        { text: 'Run an ONNX model', link: '/recipes/onnx' },
        { text: 'Transformers.js on Concord', link: '/recipes/transformers' },
        { text: 'Speech in a sound file', link: '/recipes/speech' },
        { text: 'Images', link: '/recipes/images' },
        { text: 'Gradients of your own kernel', link: '/recipes/gradients' },
      ],
    },
    {
      text: 'Coming from',
      items: [
        { text: 'TensorFlow.js', link: '/from/tfjs' },
        { text: 'PyTorch', link: '/from/pytorch' },
        { text: 'CUDA', link: '/from/cuda' },
      ],
    },
    {
      text: 'Reference',
      items: [
        { text: 'The contract', link: '/contract' },
        { text: 'Errors', link: '/errors' },
        { text: 'Numerics', link: '/numerics' },
        { text: 'Stability', link: '/stability' },
        { text: 'All functions', link: '/functions' },
        { text: 'API', link: '/api/', collapsed: true, items: apiPages(root) },
        { text: 'JSON of the command', link: '/json' },
        { text: 'Writing a backend', link: '/writing-a-backend' },
        { text: 'Intel hardware', link: '/intel-hardware' },
      ],
    },
    {
      text: 'Benchmarks',
      items: [
        { text: 'Results', link: '/benchmarks/' },
        { text: 'How it was measured', link: '/benchmarks/how' },
        { text: 'Notes', link: '/benchmarks/notes' },
      ],
    },
    { text: 'Packages', collapsed: true, items: readmes(root, 'packages') },
    { text: 'Examples', link: '/examples/', collapsed: true, items: readmes(root, 'examples') },
    { text: 'Decisions', link: '/decisions/', collapsed: true, items: decisions(root) },
    {
      text: 'Working on it',
      collapsed: true,
      items: [
        { text: 'Contributing', link: '/contributing' },
        { text: 'Security', link: '/security' },
        { text: 'Software devices', link: '/software-devices/' },
      ],
    },
  ];
}

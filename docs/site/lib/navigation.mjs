// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {import('vitepress').DefaultTheme.NavItem} NavItem */
/** @typedef {import('vitepress').DefaultTheme.SidebarItem} SidebarItem */

/** @type {NavItem[]} */
export const nav = [
  { text: 'Start', link: '/start/node', activeMatch: '/start/' },
  { text: 'Recipes', link: '/recipes/', activeMatch: '/recipes/' },
  { text: 'Reference', link: '/contract' },
  { text: 'Benchmarks', link: '/benchmarks/', activeMatch: '/benchmarks/' },
  { text: 'Playground', link: '/playground' },
  { text: 'Test my GPU', link: '/test-my-gpu' },
  { text: 'A language model', link: '/lm' },
  { text: 'Training', link: '/train' },
];

/** @param {string} file */
const titleOf = (file) => /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]?.replaceAll('`', '') ?? file;

/** @param {string} root @param {string} parent @returns {SidebarItem[]} the READMEs below a folder */
function readmes(root, parent) {
  return readdirSync(join(root, parent))
    .filter((name) => existsSync(join(root, parent, name, 'README.md')))
    .map((name) => ({ text: name, link: `/${parent}/${name}` }));
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
        { text: 'What ran, and how long', link: '/profile' },
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
        { text: 'Images', link: '/recipes/images' },
        { text: 'A custom kernel', link: '/recipes/custom-kernel' },
        { text: 'Gradients of your own kernel', link: '/recipes/gradients' },
        { text: 'A custom shader', link: '/recipes/custom-shader' },
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
        { text: 'API', link: '/api/index.html', target: '_self' },
        { text: 'JSON of the command', link: '/json' },
        { text: 'Writing a backend', link: '/writing-a-backend' },
        { text: 'Intel hardware', link: '/intel-hardware' },
      ],
    },
    {
      text: 'Benchmarks',
      items: [
        { text: 'Results', link: '/benchmarks/' },
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

// Builds the page with webpack, which has no command of its own.
import webpack from 'webpack';

const output = { path: `${import.meta.dirname}/webpack`, filename: 'main.js', module: true, chunkFormat: 'module' };
const compiler = webpack({
  ...{ mode: 'production', target: 'web', entry: './page.mjs', performance: { hints: false } },
  output: { ...output, library: { type: 'module' } },
  experiments: { outputModule: true, topLevelAwait: true },
});
compiler.run((error, stats) => {
  if (error !== null || stats.hasErrors() || stats.hasWarnings()) throw error ?? new Error(stats.toString());
});

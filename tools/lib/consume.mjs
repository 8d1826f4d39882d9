// @ts-check
import { cpSync, createReadStream, existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';
import { setUpBun } from '../../software-devices/bun/setup.mjs';
import { complaintsOf, launchChromium } from '../../software-devices/chromium/launch.mjs';
import { setUpChromium } from '../../software-devices/chromium/setup.mjs';
import { DENO_ARGUMENTS, denoEnvironment } from '../../software-devices/deno/launch.mjs';
import { setUpDeno } from '../../software-devices/deno/setup.mjs';
import { root } from './paths.mjs';
import { runQuietly } from './run-quietly.mjs';

/** Everything is installed once, from the registry. */
const DEPENDENCIES = {
  ...Object.fromEntries(
    ['backend-core', 'backend-cpu', 'backend-wasm', 'backend-webgpu', 'ops'].map((name) => [
      `@concord/${name}`,
      '^0.1.0',
    ]),
  ),
  ...{ next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1', vite: '8.3.8', webpack: '5.113.0' },
};

/** @param {readonly string[]} backends @returns {string} what compute.mjs says of them */
const resultOf = (backends) => backends.map((name) => `${name} 0.2689 0.7311`).join('; ');

/** Pages by the names of the consumers: where they are when they are built. */
const PAGES = { 'a plain page': 'plain/', Vite: 'vite/dist/', webpack: 'webpack/', Next: 'next/out/' };
const PAGE_BACKENDS = ['webgpu', 'wasm', 'cpu'];

const TYPES = /** @type {Record<string, string>} */ ({
  '.html': 'text/html',
  '.css': 'text/css',
  '.json': 'application/json',
});

/**
 * Installs the packages as strangers do, and computes with them in Node, Deno, Bun, and in pages made by Vite, webpack, Next and
 * by hand.
 *
 * @param {string} folder made here
 * @param {NodeJS.ProcessEnv} env with the registry
 * @returns {Promise<string[]>} what went wrong
 */
export async function consume(folder, env) {
  cpSync(join(root, 'tools/consumers'), folder, { recursive: true });
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: DEPENDENCIES }),
  );
  runQuietly('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, env });
  return [...runtimes(folder, env), ...(await pages(folder, env))];
}

/** @param {string} folder @param {NodeJS.ProcessEnv} env @returns {string[]} */
function runtimes(folder, env) {
  const [deno, bun] = [setUpDeno(), setUpBun()];
  const backends = ['wasm', 'cpu'];
  const program = ['runtime.mjs', ...backends];
  return [
    { name: 'Node', path: process.execPath, args: program, env },
    { name: 'Deno', ...deno, args: [...DENO_ARGUMENTS, ...program], env: { ...env, ...denoEnvironment('none') } },
    { name: 'Bun', ...bun, args: program, env },
  ].flatMap(({ name, path, args, env, ...found }) => {
    if (path === undefined) return [`${name}: ${'reason' in found ? found.reason : 'not found'}`];
    const printed = runQuietly(path, args, { cwd: folder, env, isSilent: true }).trim();
    console.log(`${name}: ${printed}`);
    return printed === resultOf(backends) ? [] : [`${name} printed ${printed}`];
  });
}

/** @param {string} folder @param {NodeJS.ProcessEnv} env @returns {Promise<string[]>} */
async function pages(folder, env) {
  const node = (/** @type {string[]} */ ...args) => runQuietly(process.execPath, args, { cwd: folder, env });
  node('node_modules/vite/bin/vite.js', 'build', 'vite', '--base', './', '--logLevel', 'warn');
  node('webpack.mjs');
  node('node_modules/next/dist/bin/next', 'build', 'next');
  const chromium = await setUpChromium();
  if (chromium.path === undefined) return [`pages: ${chromium.reason}`];
  const server = createServer((request, response) => serve(folder, request.url ?? '/', response));
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const browser = await launchChromium();
  try {
    const problems = [];
    for (const [name, path] of Object.entries(PAGES)) {
      const url = `http://localhost:${port}/${path}`;
      problems.push(...(await visit(browser, name, url, PAGE_BACKENDS)));
      if (path !== 'plain/') problems.push(...(await visit(browser, name, url, ['cpu'], /Wgsl|workgroup_size/)));
    }
    return problems;
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

/**
 * @param {Awaited<ReturnType<typeof launchChromium>>} browser
 * @param {string} name @param {string} url @param {readonly string[]} backends
 * @param {RegExp} [unwanted] of what no script may be that is loaded: a backend that was not picked
 */
async function visit(browser, name, url, backends, unwanted) {
  const page = await browser.newPage();
  const complaints = complaintsOf(page);
  /** @type {Promise<Buffer>[]} */
  const scripts = [];
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script') scripts.push(response.body());
  });
  await page.goto(`${url}?${backends.join(',')}`);
  const output = page.locator('output:not(:empty)');
  const shown = (await output.textContent({ timeout: 60_000 }).catch(() => null)) ?? 'nothing';
  const loaded = await Promise.all(scripts);
  const kilobytes = loaded.reduce((sum, script) => sum + gzipSync(script).length, 0) / 1000;
  console.log(`${name}: ${shown}; ${loaded.length} scripts, ${kilobytes.toFixed(0)} kB gzip`);
  await page.close();
  const isRight = shown === resultOf(backends);
  const others = unwanted === undefined ? [] : loaded.filter((script) => unwanted.test(script.toString()));
  return [
    ...(isRight ? [] : [`${name} showed ${shown}`]),
    ...complaints.map((complaint) => `${name}: ${complaint}`),
    ...others.map(() => `${name} loaded a backend that was not picked`),
  ];
}

/** @param {string} folder @param {string} url @param {import('node:http').ServerResponse} response */
function serve(folder, url, response) {
  const path = join(folder, normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname)));
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, 'index.html') : path;
  if (!existsSync(file)) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/javascript' });
  createReadStream(file).pipe(response);
}

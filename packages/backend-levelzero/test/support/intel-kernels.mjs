// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cache, readyDriver } from '../../../../software-devices/intel-driver/lib/cache.mjs';
import { environmentOf } from '../../../../software-devices/intel-driver/lib/products.mjs';

/** @typedef {import('../../../../software-devices/intel-driver/lib/products.mjs').Product} Product */
/**
 * @typedef {object} BuiltKernel
 * @property {string} name
 * @property {string} [binary] the file with its native binary, where it was built and launched
 * @property {string} [error] what failed, or how the process ended
 */

const CHILD = fileURLToPath(new URL('intel-child.mjs', import.meta.url));

/** Processes at a time. */
const JOBS = 2;

/**
 * Does something with an environment in which programs find this product through Intel's driver.
 *
 * @template Result
 * @param {Product} product
 * @param {(env: Record<string, string>) => Promise<Result>} action
 * @returns {Promise<Result>}
 */
export async function withIntelDriver(product, action) {
  const captures = mkdtempSync(join(tmpdir(), 'concord-intel-'));
  try {
    return await action(environmentOf(product, captures));
  } finally {
    rmSync(captures, { recursive: true, force: true });
  }
}

/**
 * Builds kernels with Intel's driver and launches each once, in processes that the compiler may end.
 *
 * @param {Product} product
 * @param {readonly string[]} names
 * @returns {Promise<BuiltKernel[]>} by name, in the order of `names`
 */
export async function buildKernels(product, names) {
  if (readyDriver() === undefined) throw new Error("Intel's driver is not set up");
  const request = { folder: join(cache, 'builds', product) };
  // Kernels of a family are neighbours and take about as long, so each process gets a share of all.
  const shares = Array.from({ length: JOBS }, (_, job) => names.filter((_name, index) => index % JOBS === job));
  /** @type {Map<string, BuiltKernel>} */
  const results = new Map();
  const build = (/** @type {readonly string[]} */ share) =>
    withIntelDriver(product, async (driver) => {
      for (let left = share; left.length > 0; left = left.filter((name) => !results.has(name)))
        for (const result of await runChild(driver, { ...request, names: left })) results.set(result.name, result);
    });
  await Promise.all(shares.map(build));
  return names.map((name) => results.get(name) ?? { name, error: 'it was not tried' });
}

/**
 * @param {Record<string, string>} driver the environment that names the driver
 * @param {import('./intel-child.mjs').Request} request
 * @returns {Promise<BuiltKernel[]>} one at least; of those that the process came to
 */
async function runChild(driver, request) {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(request)], {
    // What was compiled before is loaded from there.
    env: { ...process.env, ...driver, XDG_CACHE_HOME: join(cache, 'modules'), CONCORD_MODULE_CACHE: 'use' },
  });
  /** @type {BuiltKernel[]} */
  const results = [];
  /** @type {string | undefined} */
  let trying;
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.name !== undefined) results.push(message);
    trying = message.trying;
  });
  const [code, signal] = await once(child, 'close');
  const ended = `the process ends: ${signal ?? `exit code ${code}`} ${said.trim()}`.trim();
  if (trying !== undefined) results.push({ name: trying, error: ended });
  else if (results.length === 0) throw new Error(`no kernel was tried: ${ended}`);
  return results;
}

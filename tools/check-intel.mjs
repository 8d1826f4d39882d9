// @ts-check
// `check-intel [--only TEXT] [--product NAME] [--update] [--json]`: compiles every kernel of the Level Zero
// backend with Intel's compiler, for each of its products, and compares the results with the committed table.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildKernels } from '../packages/backend-levelzero/test/support/intel-kernels.mjs';
import { INTEL_TRAITS } from '../packages/backend-levelzero/test/support/intel-traits.mjs';
import { allKernels } from '../packages/backend-levelzero/test/support/run-samples.mjs';
import { describeKernel } from '../software-devices/intel-driver/lib/describe-kernel.mjs';
import { productNames, products } from '../software-devices/intel-driver/lib/products.mjs';
import { setUp } from '../software-devices/intel-driver/setup.mjs';
import { differences, formatRow, formatTable, keyOf, parseTable, ratioOf } from './lib/intel-table.mjs';
import { root } from './lib/paths.mjs';
import { runMain } from './lib/run.mjs';

/** @typedef {import('../software-devices/intel-driver/lib/products.mjs').Product} Product */
/** @typedef {import('../packages/backend-levelzero/test/support/intel-kernels.mjs').BuiltKernel} BuiltKernel */
/** @typedef {import('./lib/intel-table.mjs').Row} Row */

const FILE = 'packages/backend-levelzero/intel-kernels.tsv';
const UPDATE = 'npm run check:intel -- --update';
/** Disassemblers at a time. */
const JOBS = 2;

/** Products with their own code. */
const COMPILED = productNames.filter((name) => products[name].code === name);

await runMain(async () => {
  const { values: options } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      product: { type: 'string', multiple: true, default: [...COMPILED] },
      update: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { only, update, json } = options;
  const wanted = COMPILED.filter((name) => options.product.includes(name));
  if (wanted.length === 0) throw new Error(`--product is one of ${COMPILED.join(', ')}`);
  if (!setUp()) return 1;

  /** @type {Row[]} */
  const rows = [];
  for (const product of wanted) {
    const names = allKernels(INTEL_TRAITS[product]).map(({ name }) => name);
    const selected = names.filter((name) => name.includes(only));
    rows.push(...(await rowsOf(product, selected)));
  }
  if (rows.length === 0) throw new Error(`no kernel has ${JSON.stringify(only)} in its name`);
  if (json) console.log(JSON.stringify(rows, null, 2));
  else print(rows, wanted);

  const file = join(root, FILE);
  const committed = parseTable(readFileSync(file, 'utf8'));
  const isSelected = (/** @type {string} */ key) => {
    const [kernel = '', product = ''] = key.split('\t');
    return kernel.includes(only) && wanted.some((name) => name === product);
  };
  const before = new Map([...committed].filter(([key]) => isSelected(key)));
  const after = new Map(rows.map(formatRow).map((line) => [keyOf(line), line]));
  const changes = differences(before, after);
  const failed = rows.filter(({ error }) => error !== undefined);
  if (update) {
    const others = [...committed].filter(([key]) => !isSelected(key)).map(([, line]) => line);
    writeFileSync(file, formatTable([...others, ...after.values()]));
  } else if (changes.length > 0) {
    console.error(`${FILE} is of other kernels; if the new ones are as they should be, run: ${UPDATE}`);
    for (const line of changes) console.error(line);
  }
  for (const { kernel, product, error } of failed) console.error(`${kernel} on ${product}: ${error}`);
  return failed.length > 0 || (changes.length > 0 && !update) ? 1 : 0;
});

/** @param {Product} product @param {readonly string[]} names @returns {Promise<Row[]>} */
async function rowsOf(product, names) {
  const kernels = await buildKernels(product, names);
  const rows = [];
  for (let start = 0; start < kernels.length; start += JOBS)
    rows.push(...(await Promise.all(kernels.slice(start, start + JOBS).map((kernel) => rowOf(kernel, product)))));
  return rows;
}

/** @param {BuiltKernel} kernel @param {Product} product @returns {Promise<Row>} */
async function rowOf({ name, binary, error = 'it has no binary' }, product) {
  if (binary === undefined) return { kernel: name, product, error };
  return { kernel: name, product, made: await describeKernel(binary, product) };
}

/** A line a kernel, with all products beside each other. @param {readonly Row[]} rows @param {readonly Product[]} wanted */
function print(rows, wanted) {
  /** @type {Record<string, Record<string, string>>} */
  const cells = {};
  for (const row of rows) (cells[row.kernel] ??= {})[row.product] = cellOf(row);
  console.log('lanes, registers, SLM, scratch, multiply-adds an instruction of the loop');
  console.table(cells);
  for (const product of wanted) {
    const own = rows.filter((row) => row.product === product);
    const spilling = own.filter(({ made }) => made && made.scratch > 0);
    const built = own.filter(({ made }) => made);
    console.log(`${product}: ${built.length} of ${own.length} built, ${spilling.length} with scratch`);
  }
}

/** @param {Row} row */
function cellOf({ made }) {
  if (made === undefined) return 'fails';
  const { simd, grf, slm, scratch, loop } = made;
  const systolic = loop && loop.systolic > 0 ? ` ${loop.systolic} dpas` : '';
  return `${simd} ${grf} ${slm} ${scratch} ${ratioOf(made)}${systolic}`;
}

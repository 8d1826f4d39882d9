// @ts-check
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { root } from '../lib/paths.mjs';
import { definitions, derivedMark, headings, opRooms } from '../lib/structure-rules.mjs';

/** Ops with their own kernels, and one that is a `run`. */
const PRIMITIVES = ['gemm', 'conv2d', 'attention'];
const DERIVED = 'unary';

/** @type {string} */
let tree;

/** @param {string} file */
function write(file, text = 'export {};\n') {
  mkdirSync(dirname(join(tree, file)), { recursive: true });
  writeFileSync(join(tree, file), text);
}

function check() {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'tools/check-structure.mjs'), tree], {
    encoding: 'utf8',
  });
  return { status, stdout, lines: stderr.split('\n').filter((line) => line.includes(': expected ')) };
}

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'concord-structure-'));
  write(`${definitions.folder}/index.ts`);
  write(`${definitions.folder}/gemm.test.ts`);
  for (const op of PRIMITIVES) write(`${definitions.folder}/${op}.ts`);
  write(`${definitions.folder}/${DERIVED}.ts`, `export const unary = { ${derivedMark} () => undefined };\n`);
  for (const room of opRooms) for (const op of [...PRIMITIVES, DERIVED]) write(room(op));
  const readme = [...headings.package, ...headings.backend].join('\n\n');
  for (const name of ['backend-core', 'backend-cpu', 'backend-gadget', 'conformance', 'cli']) {
    write(`packages/${name}/README.md`, `# ${name}\n\n${readme}\n`);
    write(`packages/${name}/package.json`, '{}');
  }
  for (const name of ['cpu', 'gadget']) {
    write(`packages/backend-${name}/src/provider.ts`);
    write(`packages/backend-${name}/src/${name}-backend.ts`);
    write(`packages/backend-${name}/test/conformance.test.ts`);
  }
  for (const family of PRIMITIVES) {
    write(`packages/backend-cpu/src/kernels/${family}.ts`);
    write(`packages/backend-gadget/src/kernels/${family}/plan.ts`);
  }
});

afterEach(() => rmSync(tree, { recursive: true, force: true }));

test('a tree with every file in its room is accepted', () => {
  expect(check()).toEqual({ status: 0, stdout: 'structure: every file in its room\n', lines: [] });
});

const mustExist = [
  'packages/backend-core/src/ops/index.ts',
  'packages/backend-cpu/src/reference/attention.ts',
  'packages/backend-cpu/src/reference/unary.ts',
  'packages/backend-cpu/src/kernels/conv2d.ts',
  'packages/backend-cpu/src/provider.ts',
  'packages/backend-gadget/src/gadget-backend.ts',
  'packages/backend-gadget/test/conformance.test.ts',
  'packages/conformance/src/cases/gemm.ts',
  'packages/cli/README.md',
];

test.each(mustExist)('%s missing is reported', (file) => {
  rmSync(join(tree, file));
  const { status, lines } = check();
  expect(status).toBe(1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(`${file}: expected `);
});

test('of a new op every other file is named', () => {
  write(`${definitions.folder}/top-k.ts`);
  expect(check().lines.map((line) => line.split(': ')[0])).toEqual([
    'packages/backend-cpu/src/reference/top-k.ts',
    'packages/conformance/src/cases/top-k.ts',
    'packages/backend-cpu/src/kernels/top-k.ts',
    'packages/backend-gadget/src/kernels/top-k.ts',
  ]);
});

test('a family without its plan is reported', () => {
  rmSync(join(tree, 'packages/backend-gadget/src/kernels/attention/plan.ts'));
  write('packages/backend-gadget/src/kernels/attention/flash.wgsl.ts');
  expect(check().lines).toEqual([
    'packages/backend-gadget/src/kernels/attention.ts: expected the kernels for attention: this file, or plan.ts or attention.ts in kernels/attention',
  ]);
});

const planted = /** @type {const} */ ([
  ['packages/backend-cpu/src/kernels/gemm.ts', "import { gemm } from '../reference/gemm.ts';", 'no import from'],
  ['packages/backend-cpu/src/reference/helpers.ts', "export * from '../kernels/gemm.ts';", 'no import from'],
  ['packages/backend-core/src/clock.ts', "import { hrtime } from 'node:process';", 'found node:process'],
  ['packages/backend-core/src/lazy.ts', "const lodash = await import('lodash');", 'found lodash'],
  ['packages/backend-core/package.json', '{ "dependencies": { "lodash": "4.0.0" } }', 'found lodash'],
  ['packages/backend-gadget/src/conformance.test.ts', '', 'exactly one conformance test'],
  ['packages/backend-cpu/README.md', '# cpu\n\n## Install\n\n## Use\n\n## Limits\n', '"## Requirements"'],
]);

test.each(planted)('%s with %j is reported', (file, text, expected) => {
  write(file, text);
  const { status, lines } = check();
  expect(status).toBe(1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(file);
  expect(lines[0]).toContain(expected);
});

test('an example has a maximum of lines, without its tests', () => {
  for (const name of ['src/a.ts', 'src/b.ts', 'src/a.test.ts', 'test/b.ts', 'measure.mjs'])
    write(`examples/x/${name}`, '//\n'.repeat(300));
  expect(check().status).toBe(0);
  write('examples/x/src/parts/c.ts', '//\n');
  expect(check().lines).toEqual(['examples/x: expected at most 600 lines of source, found 601']);
});

test('a line of a page is short, but for tables, code and single words', () => {
  const long = 'word '.repeat(25);
  const page = `---\ntitle: ${long}\n---\n| ${long} |\n\n\`\`\`ts\n${long}\n\`\`\`\n${'x'.repeat(125)}\n- ${long}\n`;
  write('docs/a.md', page);
  write('CHANGES.md', long);
  expect(check().lines).toEqual(['docs/a.md:10: expected at most 120 characters, found 127']);
});

test('unit tests of core may use Node', () => {
  write('packages/backend-core/src/a.test.ts', "import { readFileSync } from 'node:fs';");
  expect(check().status).toBe(0);
});

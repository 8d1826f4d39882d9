// @ts-check
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { root } from '../lib/paths.mjs';
import { families, headings, opRooms } from '../structure.mjs';

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
  for (const room of opRooms) for (const op of room.ops) write(room.file(op));
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
  for (const family of families) {
    write(`packages/backend-cpu/src/kernels/${family}.ts`);
    write(`packages/backend-gadget/src/kernels/${family}/plan.ts`);
  }
});

afterEach(() => rmSync(tree, { recursive: true, force: true }));

test('a tree with every file in its room is accepted', () => {
  expect(check()).toEqual({ status: 0, stdout: 'structure: every file in its room\n', lines: [] });
});

const mustExist = [
  'packages/backend-core/src/ops/conv2d.ts',
  'packages/backend-core/src/ops/top-k.ts',
  'packages/backend-cpu/src/reference/attention.ts',
  'packages/backend-cpu/src/kernels/attention.ts',
  'packages/backend-cpu/src/provider.ts',
  'packages/backend-gadget/src/gadget-backend.ts',
  'packages/backend-gadget/test/conformance.test.ts',
  'packages/conformance/src/cases/gemm-f16.ts',
  'packages/cli/README.md',
];

test.each(mustExist)('%s missing is reported', (file) => {
  rmSync(join(tree, file));
  const { status, lines } = check();
  expect(status).toBe(1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(`${file}: expected `);
});

test('a family without its plan is reported', () => {
  rmSync(join(tree, 'packages/backend-gadget/src/kernels/conv2d/plan.ts'));
  write('packages/backend-gadget/src/kernels/conv2d/tiled.wgsl.ts');
  expect(check().lines).toEqual([
    'packages/backend-gadget/src/kernels/conv2d.ts: expected the kernels for conv2d: this file, or kernels/conv2d/plan.ts',
  ]);
});

// Put together here, so that the check does not find them in this file.
const focused = ['test', 'only'].join('.');
const skipped = ['describe', 'skip', 'each'].join('.');

const planted = /** @type {const} */ ([
  ['packages/backend-cpu/src/kernels/gemm.ts', "import { gemm } from '../reference/gemm.ts';", 'no import from'],
  ['packages/backend-cpu/src/reference/helpers.ts', "export * from '../kernels/gemm.ts';", 'no import from'],
  ['packages/backend-cpu/src/reference/run.ts', "import { phasesOf } from '@concord/kernel';", 'no import from'],
  ['packages/backend-core/src/clock.ts', "import { hrtime } from 'node:process';", 'found node:process'],
  ['packages/backend-core/src/lazy.ts', "const lodash = await import('lodash');", 'found lodash'],
  ['packages/backend-core/package.json', '{ "dependencies": { "lodash": "4.0.0" } }', 'found lodash'],
  ['packages/conformance/src/long.ts', '//\n'.repeat(401), 'at most 400 lines, found 401'],
  ['packages/cli/src/myFile.ts', '', 'kebab-case'],
  ['packages/backend-cpu/src/a.test.ts', `${focused}('x', () => {});`, 'no .skip and no .only'],
  ['tools/test/b.test.mjs', `${skipped}([])('x', () => {});`, 'no .skip and no .only'],
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

test('generated files may be long, and unit tests of core may use Node', () => {
  write('packages/conformance/src/generated/table.ts', '//\n'.repeat(900));
  write('packages/backend-core/src/a.test.ts', "import { readFileSync } from 'node:fs';");
  expect(check().status).toBe(0);
});

// @ts-check
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERROR_CODES, OP_NAMES } from '../../packages/backend-core/src/index.ts';
import { describe, expect, it, test } from 'vitest';
import { blocksOf, textInPlace, textOf, unitsOf } from '../lib/docs-code.mjs';
import { root } from '../lib/paths.mjs';

/** @param {string} file */
const read = (file) => readFileSync(join(root, file), 'utf8');

describe('the code in a page', () => {
  const page = [
    '```ts', // line 1
    'const a = 1;',
    '```',
    '<!-- check-docs: continues -->',
    '',
    '```ts',
    'a + 1;', // line 7
    '```',
    '```sh',
    'npm test',
    '```',
    '<!-- check-docs: file src/index.ts -->',
    '```ts',
    'export const b = 2;', // line 14
    '```',
    '<!-- check-docs: skip, it shows a mistake -->',
    '```ts',
    'b +;',
    '```',
    '<!-- check-docs: file src/index.ts -->',
    '```ts',
    'b + 1;', // line 22
    '```',
  ].join('\n');

  it('is taken apart into files', () => {
    const { units, skipped } = unitsOf(page);
    expect(units.map(({ name }) => name)).toEqual(['line-2.ts', 'src/index.ts']);
    expect(units.map(textOf)).toEqual(['const a = 1;\n\na + 1;\n', 'export const b = 2;\n\nb + 1;\n']);
    expect(skipped).toEqual([{ line: 18, reason: 'it shows a mistake' }]);
    expect(blocksOf(page)).toHaveLength(6);
  });

  it('keeps its line numbers', () => {
    const [first, second] = unitsOf(page).units;
    expect(first && textInPlace(first).split('\n').indexOf('a + 1;')).toBe(7 - 1);
    expect(second && textInPlace(second).split('\n').indexOf('b + 1;')).toBe(22 - 1);
  });

  it('has no marker that is misspelt, and no block without an end', () => {
    expect(() => unitsOf('<!-- check-docs: skip -->\n```ts\n```\n')).toThrow('"skip" is no marker');
    expect(() => unitsOf('```ts\nconst a = 1;\n')).toThrow('line 1: a block of code that does not end');
  });
});

test('check-docs says where a page is wrong', () => {
  const folder = mkdtempSync(join(tmpdir(), 'concord-docs-test-'));
  const page = join(folder, 'page.md');
  /** @param {string} code @param {string} [output] */
  const check = (code, output = '42') => {
    const shown = '```console\n$ node -p 6*7\n42\n```\n';
    writeFileSync(page, `# A page\n\n\`\`\`ts\n${code}\n\`\`\`\n\n${shown.replace('42', output)}`);
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'tools/check-docs.mjs'), page], {
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const head = "import { NULL_PTR } from '@concord/backend-core';";
  expect(check(`${head}\nexport const address: number = NULL_PTR;`)).toEqual({
    status: 0,
    stdout: 'docs: 1 pieces of TypeScript compile, 0 of them and 1 commands print what their page shows\n',
    stderr: '',
  });
  const wrong = check(`${head}\nexport const address: string = NULL_PTR;`, '43');
  expect(wrong.status).toBe(1);
  expect(wrong.stderr).toMatch(/page\.md:5: error TS2322/);
  expect(wrong.stderr).toMatch(/page\.md:9: node -p 6\*7: shows "43", prints "42"/);
  const shown = '<!-- check-docs: runs -->\n```ts\nconsole.log(6 * 7);\n```\n\n```text\n41\n```\n';
  writeFileSync(page, shown);
  const args = [join(root, 'tools/check-docs.mjs'), page];
  const misprint = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(misprint.status).toBe(1);
  expect(misprint.stderr).toContain('page.md:3: prints\n42\nnot\n41');
  writeFileSync(page, shown.replace('41', '42'));
  expect(spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout).toContain('1 of them and 0 commands print');
  rmSync(folder, { recursive: true });
});

test('contract.md has a section for each method, property and op', () => {
  const headings = [...read('docs/contract.md').matchAll(/^### `(\w+)`$/gm)].map(([, name]) => name);
  const source = read('packages/backend-core/src/contract/backend.ts');
  const [, members = ''] = /export interface ComputeBackend extends AsyncDisposable \{\n([^]*?)\n\}/.exec(source) ?? [];
  const names = [...members.matchAll(/^ {2}(?:readonly )?(\w+)\??(?:<.*)?[(:]/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(['init', 'native', 'supports', 'copyDtoh', ...OP_NAMES]));
  expect(headings).toHaveLength(names.length);
  expect(new Set(headings)).toEqual(new Set(names));
});

test('errors.md has a heading with cause and fix for each code, and each reason', () => {
  const page = read('docs/errors.md');
  for (const code of ERROR_CODES) {
    const [, section = ''] = page.split(`\n## ${code}\n`);
    const [own = ''] = section.split('\n## ');
    expect({ code, cause: own.includes('**Cause.**'), fix: own.includes('**Fix.**') }).toEqual({
      ...{ code, cause: true, fix: true },
    });
  }
  const source = read('packages/backend-core/src/errors/backend-error.ts');
  const [, union = ''] = /export type UnavailableReason =([^;]*);/.exec(source) ?? [];
  const reasons = [...union.matchAll(/'([a-z-]+)'/g)].map(([, reason]) => reason);
  expect(reasons).toContain('no-device');
  for (const reason of reasons) expect(page).toContain(`\n| \`${reason}\` |`);
});

test('numerics.md has what a backend may declare', () => {
  const source = read('packages/backend-core/src/contract/capabilities.ts');
  const [, fields = ''] = /export interface Numerics \{\n([^]*?)\n\}/.exec(source) ?? [];
  const names = [...fields.matchAll(/readonly (\w+):/g)].map(([, name]) => name);
  expect(names).toContain('f32Subnormals');
  const [, section = ''] = read('docs/numerics.md').split('\n## What a backend may declare\n');
  for (const name of names) expect(section).toContain(`| \`${name}\` |`);
});

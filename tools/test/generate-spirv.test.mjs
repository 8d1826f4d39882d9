// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../lib/paths.mjs';
import { cutGrammar } from '../lib/spirv-grammar.mjs';
import * as subset from '../lib/spirv-subset.mjs';

const headers = '/usr/include/spirv/unified1';
const missing = existsSync(join(headers, 'spirv.core.grammar.json'))
  ? undefined
  : `${headers} is missing (Debian: spirv-headers)`;

/** @param {string[]} args */
const generate = (...args) =>
  spawnSync(process.execPath, [join(root, 'tools/generate-spirv.mjs'), ...args], { encoding: 'utf8' });

/** @param {string} name */
const readGrammar = (name) => JSON.parse(readFileSync(join(headers, name), 'utf8'));

test('the committed tables are what the grammar gives', (context) => {
  if (missing) context.skip(missing);
  expect(generate('--check')).toMatchObject({ status: 0, stderr: '' });
});

test('every name of the subset is in the grammar, so none is misspelt', (context) => {
  if (missing) context.skip(missing);
  const core = readGrammar('spirv.core.grammar.json');
  /** @param {string} kind @returns {string[]} */
  const namesOf = (kind) =>
    core.operand_kinds
      .find((/** @type {{ kind: string }} */ entry) => entry.kind === kind)
      .enumerants.map((/** @type {{ enumerant: string }} */ { enumerant }) => enumerant);
  const everything = JSON.stringify(core);
  expect(subset.capabilities.filter((name) => !namesOf('Capability').includes(name))).toEqual([]);
  expect(subset.extensions.filter((name) => !everything.includes(`"${name}"`))).toEqual([]);
  expect(subset.withoutInstructions.filter((name) => !everything.includes(`"opname":"${name}"`))).toEqual([]);
  for (const name of [...subset.withoutEnumerants, ...subset.aliases]) {
    const [kind = '', enumerant] = name.split('.');
    expect(namesOf(kind)).toContain(enumerant);
  }
});

test('the subset has no value twice and nothing of shaders', (context) => {
  if (missing) context.skip(missing);
  const cut = cutGrammar(readGrammar('spirv.core.grammar.json'), readGrammar('extinst.opencl.std.100.grammar.json'));
  const opcodes = cut.instructions.map(({ value }) => value);
  expect(new Set(opcodes).size).toBe(opcodes.length);
  const capabilities = cut.kinds.find(({ kind }) => kind === 'Capability')?.enumerants.map(({ name }) => name);
  expect(new Set(capabilities)).toEqual(new Set(subset.capabilities));
  expect(cut.instructions.filter(({ name }) => /Image|Sampler|Ray|NV$|AMD$/.test(name))).toEqual([]);
  expect(cut.openCl).toHaveLength(162);
});

test('--check notices a grammar that says something else', (context) => {
  if (missing) context.skip(missing);
  const folder = mkdtempSync(join(tmpdir(), 'concord-spirv-'));
  try {
    for (const name of ['spirv.core.grammar.json', 'extinst.opencl.std.100.grammar.json']) {
      const text = readFileSync(join(headers, name), 'utf8');
      writeFileSync(join(folder, name), text.replace('"OpTypeFloat"', '"OpTypeFloating"'));
    }
    const { status, stderr } = generate('--check', folder);
    expect(status).toBe(1);
    expect(stderr).toContain('opcodes.ts is not current: run node tools/generate-spirv.mjs');
    expect(stderr).not.toContain('open-cl.ts');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a folder without the grammar is named, with what to install', () => {
  const { status, stderr } = generate('--check', join(tmpdir(), 'concord-no-such-folder'));
  expect(status).toBe(1);
  expect(stderr).toMatch(/spirv\.core\.grammar\.json is missing: install spirv-headers/);
});

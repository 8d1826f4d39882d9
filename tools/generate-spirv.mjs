// @ts-check
// `node tools/generate-spirv.mjs [--check] [folder]`: the tables of SPIR-V in packages/spirv-builder, from the JSON
// grammars of the Khronos headers (Debian: spirv-headers). --check writes nothing and fails when a table is not current.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { emitFiles } from './lib/spirv-emit.mjs';
import { cutGrammar } from './lib/spirv-grammar.mjs';

const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true });
const [folder = '/usr/include/spirv/unified1'] = positionals;
const target = 'packages/spirv-builder/src/generated';
const root = join(import.meta.dirname, '..');

/** @param {string} name */
function readGrammar(name) {
  const file = join(folder, name);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  console.error(`${file} is missing: install spirv-headers, or name the folder that holds it`);
  process.exit(1);
}

const core = readGrammar('spirv.core.grammar.json');
const openCl = readGrammar('extinst.opencl.std.100.grammar.json');
const subset = cutGrammar(core, openCl);
const files = Object.entries(emitFiles(subset, core, openCl)).map(([name, text]) => ({
  path: join(target, name),
  text,
}));

if (values.check) {
  const outdated = files.filter(({ path, text }) => readIfThere(join(root, path)) !== text);
  for (const { path } of outdated) console.error(`${path} is not current: run node tools/generate-spirv.mjs`);
  process.exitCode = outdated.length > 0 ? 1 : 0;
} else {
  mkdirSync(join(root, target), { recursive: true });
  for (const { path, text } of files) writeFileSync(join(root, path), text);
  const enumerants = subset.kinds.flatMap((kind) => kind.enumerants).length;
  const { instructions, openCl: extended } = subset;
  console.log(
    `${target}: ${instructions.length} instructions, ${enumerants} enumerants, ${extended.length} of OpenCL.std`,
  );
}

/** @param {string} file */
function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

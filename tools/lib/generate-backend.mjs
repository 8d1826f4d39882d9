// @ts-check
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { root } from './paths.mjs';

const templates = join(root, 'tools/templates/backend');
const projects = ['tsconfig.json', 'tsconfig.tests.json'];

/**
 * The words that templates hold in braces.
 *
 * @param {string} name
 * @throws {Error} for a name that is no kebab-case word, or whose provider function could not be called so
 */
export function wordsFor(name) {
  const parts = name.split('-');
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || parts[0] === 'backend') {
    throw new Error(`"${name}" is no name for a backend\nhint: kebab-case without the prefix, such as my-device`);
  }
  const Class = parts.map((part) => (part[0] ?? '').toUpperCase() + part.slice(1)).join('');
  const provider = (Class[0] ?? '').toLowerCase() + Class.slice(1);
  try {
    new Script(`'use strict'; let ${provider};`);
  } catch {
    throw new Error(`"${name}" would give a function called ${provider}, which JavaScript keeps for itself`);
  }
  return { name, Class, provider };
}

/** @param {string} folder @returns {string[]} the template files below it, relative */
function templatesBelow(folder) {
  return readdirSync(join(templates, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? templatesBelow(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`],
  );
}

/**
 * Writes `packages/backend-<name>` and its changeset, and adds it to the projects that the type check covers.
 *
 * @param {string} name
 * @param {string} checkout where to write; the templates are always ours
 * @returns {{ folder: string, written: string[], changed: string[] }} paths from the top of the checkout
 */
export function generateBackend(name, checkout) {
  const words = wordsFor(name);
  const folder = `packages/backend-${name}`;
  if (existsSync(join(checkout, folder))) throw new Error(`${folder} exists already`);
  /** @param {string} text */
  const fill = (text) =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_, word) => words[/** @type {keyof typeof words} */ (word)] ?? `{{${word}}}`);
  /** @param {string} template @param {string} file */
  const write = (template, file) => {
    mkdirSync(dirname(join(checkout, file)), { recursive: true });
    writeFileSync(join(checkout, file), fill(readFileSync(join(templates, template), 'utf8')));
    return file;
  };
  const written = templatesBelow('package').map((template) =>
    write(template, fill(template.replace('package/', `${folder}/`).replace(/\.tmpl$/, ''))),
  );
  written.push(write('changeset.md.tmpl', `.changeset/new-backend-${name}.md`));
  for (const project of projects) {
    const file = join(checkout, project);
    const text = readFileSync(file, 'utf8');
    // Text and not JSON: these files have comments.
    const added = text.replace(/^( *)(\{ "path": "packages\/conformance" \})/m, `$1{ "path": "${folder}" },\n$1$2`);
    if (added === text) throw new Error(`${project} has no reference to packages/conformance to put ${folder} before`);
    writeFileSync(file, added);
  }
  return { folder, written, changed: projects };
}

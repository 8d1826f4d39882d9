// @ts-check
// `check-docs.mjs [page...]`: the TypeScript in every README.md and in docs/, or in these pages, compiles against the
// packages as they are built; where the page says that it runs, it prints what the page shows, and so do the commands in blocks
// of the language `console`.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { blocksOf, textInPlace, textOf, unitsOf } from './lib/docs-code.mjs';
import { root } from './lib/paths.mjs';
import { runMain, toolEnvironment } from './lib/run.mjs';
import { shownOutputs, wrongOutputs } from './lib/shown-output.mjs';
import { softwareLevelZero, softwareVulkan } from './lib/software-devices.mjs';

/** Code that a page quotes in pieces, and the file that the pieces together must be. */
const QUOTED = {
  page: 'docs/writing-a-backend.md',
  name: 'src/index.ts',
  source: 'examples/minimal-backend/src/index.ts',
};

const OPTIONS = {
  ...{
    target: 'ES2022',
    lib: ['ES2022', 'ESNext.Disposable', 'DOM'],
    module: 'nodenext',
    types: ['node'],
    jsx: 'react-jsx',
  },
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noImplicitOverride: true },
  ...{ skipLibCheck: true, outDir: 'built', rootDir: '.', rewriteRelativeImportExtensions: true },
};

/** @param {string} parent */
const readmesIn = (parent) =>
  readdirSync(join(root, parent))
    .map((name) => `${parent}/${name}/README.md`)
    .filter((file) => existsSync(join(root, file)));

/** Of the site; more pages are beside them. */
const SITE_FOLDERS = ['start', 'recipes', 'from'];

/** @param {string} folder */
const pagesIn = (folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);

/** @returns {string[]} every page of the checkout, from the top folder */
function pages() {
  const docs = ['docs', 'docs/decisions', 'docs/site', ...SITE_FOLDERS.map((name) => `docs/site/${name}`)];
  return [
    ...['README.md', 'CONTRIBUTING.md', 'bench/README.md'],
    ...docs.flatMap(pagesIn),
    ...['packages', 'examples', 'apps', 'software-devices'].flatMap(readmesIn),
  ].filter((file) => existsSync(join(root, file)));
}

/** @returns {Record<string, string[]>} where the types of each export of our packages are built */
function builtTypes() {
  const folders = ['packages', 'examples', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => join(root, parent, name)),
  );
  return Object.fromEntries(
    folders
      .filter((folder) => existsSync(join(folder, 'package.json')))
      .flatMap((folder) => {
        const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
        return Object.entries(exports ?? {})
          .filter(([, target]) => typeof target.types === 'string')
          .map(([path, target]) => [name + path.slice(1), [join(folder, target.types)]]);
      }),
  );
}

/** @param {string} text */
const withoutBlankLines = (text) => text.split('\n').filter((line) => line.trim() !== '');

/** @param {string} page @param {import('./lib/docs-code.mjs').Unit[]} units @returns {string[]} */
function misquotes(page, units) {
  const { name, source } = QUOTED;
  if (page !== QUOTED.page) return [];
  const unit = units.find((candidate) => candidate.name === name);
  if (unit === undefined) return [`${page}: expected the pieces of ${source}, marked "file ${name}"`];
  const [quoted = [], actual = []] = [textOf(unit), readFileSync(join(root, source), 'utf8')].map(withoutBlankLines);
  const at = quoted.findIndex((line, index) => line !== actual[index]);
  if (at < 0 && quoted.length === actual.length) return [];
  const [got, want] = [quoted, actual].map((lines) => lines.at(at));
  return [`${page}: does not quote ${source}: "${got}" instead of "${want}"`];
}

/**
 * Compiles a folder of TypeScript.
 *
 * @param {string} folder
 * @param {ReadonlyMap<string, string>} pageOf the page of each folder in it
 * @returns {string[]} problems
 */
function typeErrors(folder, pageOf) {
  const tsc = spawnSync('tsc', ['-p', folder, '--pretty', 'false'], {
    cwd: folder,
    env: toolEnvironment(),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (tsc.error !== undefined) throw tsc.error;
  const problems = tsc.stdout.split('\n').filter((text) => text !== '');
  if (tsc.status !== 0 && problems.length === 0) return [`tsc ended with ${tsc.status}: ${tsc.stderr}`];
  return problems.map((line) => {
    const [, rooms = '', at = '', message = ''] = /^([^/\\]+)[/\\][^(]+\((\d+),\d+\): (.*)$/.exec(line) ?? [];
    return pageOf.has(rooms) ? `${pageOf.get(rooms)}:${at}: ${message}` : line;
  });
}

/**
 * Runs a piece of code of a page: on the CPU backend, whose numbers are the same on every machine, or where it is for one device on that.
 *
 * @param {string} page
 * @param {import('./lib/docs-code.mjs').Unit} unit
 * @param {string} program the file it was compiled to
 * @returns {string[]} a problem, or none
 */
function outputProblem(page, { blocks, prints, on }, program) {
  const at = `${page}:${blocks[0]?.line}`;
  const env = {
    ...{ ...process.env, CONCORD_BACKEND: on ?? process.env['CONCORD_BACKEND'] ?? 'cpu' },
    ...(on === 'webgpu' && softwareVulkan({ isWanted: true })),
    ...(on === 'level-zero' && softwareLevelZero({ isWanted: true })),
  };
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [program], {
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (error !== undefined || status !== 0) return [`${at}: ends with ${status ?? error?.message}: ${stderr.trim()}`];
  return stdout.trimEnd() === prints?.trimEnd() ? [] : [`${at}: prints\n${stdout.trimEnd()}\nnot\n${prints}`];
}

await runMain(async () => {
  // Programs in this folder find the packages as programs of the site do.
  const folder = mkdtempSync(join(root, 'docs/site/node_modules/.code-in-docs-'));
  try {
    const problems = [];
    const notes = [];
    /** @type {{ page: string, unit: import('./lib/docs-code.mjs').Unit, program: string }[]} */
    const programs = [];
    let count = 0;
    let commands = 0;
    /** @type {Map<string, string>} */
    const pageOf = new Map();
    /** @type {Map<string, { compilerOptions: object }>} */
    const configs = new Map();
    const given = process.argv.slice(2);
    for (const page of given.length > 0 ? given : pages()) {
      const { units, skipped } = unitsOf(readFileSync(resolve(root, page), 'utf8'));
      problems.push(...misquotes(page, units));
      const all = shownOutputs(blocksOf(readFileSync(resolve(root, page), 'utf8')));
      // The devices in software are for Linux.
      const isHere = (/** @type {string} */ command) =>
        process.platform === 'linux' || !command.includes('software-devices/');
      const outputs = all.filter(({ command }) => isHere(command));
      for (const { line, command } of all.filter((shown) => !isHere(shown.command))) {
        notes.push(`${page}:${line}: not run on ${process.platform}: ${command}`);
      }
      if (outputs.length > 0) problems.push(...wrongOutputs(page, outputs));
      commands += outputs.length;
      notes.push(...skipped.map(({ line, reason }) => `${page}:${line}: not checked, ${reason}`));
      const rooms = page.replaceAll(/[/\\:]/g, '__').replace(/\.md$/, '');
      pageOf.set(rooms, page);
      for (const unit of units.filter(({ language }) => ['ts', 'tsx'].includes(language))) {
        const file = join(folder, rooms, unit.name);
        const program = join(folder, 'built', rooms, unit.name.replace(/\.ts$/, '.js'));
        if (unit.on !== undefined && process.platform !== 'linux')
          notes.push(`${page}:${unit.blocks[0]?.line}: not run on ${process.platform}, which has no software device`);
        else if (unit.prints !== undefined) programs.push({ page, unit, program });
        mkdirSync(dirname(file), { recursive: true });
        // A block without import or export would share its names with every other.
        writeFileSync(file, `${textInPlace(unit)}export {};\n`);
        count++;
      }
      // One that is in the page must do for its code.
      const own = units.find(({ name }) => name === 'tsconfig.json');
      if (own !== undefined) configs.set(rooms, JSON.parse(textOf(own)));
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
    const types = join(root, 'docs/site/node_modules/@types');
    const paths = {
      ...builtTypes(),
      vitest: [join(root, 'packages/conformance/node_modules/vitest')],
      react: [join(types, 'react')],
      'react/jsx-runtime': [join(types, 'react/jsx-runtime')],
    };
    const typeRoots = [join(root, 'node_modules/@types')];
    const config = { compilerOptions: { ...OPTIONS, typeRoots, paths }, include: ['**/*.ts', '**/*.tsx'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    if (count > 0) problems.push(...typeErrors(folder, pageOf));
    for (const [rooms, { compilerOptions, ...rest }] of configs) {
      const given = { ...compilerOptions, typeRoots, paths, outDir: `../built/${rooms}` };
      writeFileSync(join(folder, rooms, 'tsconfig.json'), JSON.stringify({ compilerOptions: given, ...rest }));
      problems.push(...typeErrors(join(folder, rooms), new Map()).map((problem) => `${pageOf.get(rooms)}: ${problem}`));
    }
    if (problems.length === 0) {
      for (const each of programs) problems.push(...outputProblem(each.page, each.unit, each.program));
    }
    for (const note of notes) console.log(note);
    for (const problem of problems) console.error(problem);
    console.log(
      problems.length === 0
        ? `docs: ${count} pieces of TypeScript compile, ${programs.length} of them and ${commands} commands print what their page shows`
        : `docs: ${problems.length} problems`,
    );
    return problems.length === 0 && count + commands > 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

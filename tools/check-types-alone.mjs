// @ts-check
// `check-types-alone [--newest]`: checks that the types of each public package compile where only it and its dependencies are installed: no optional peer, no
// @types/node, no skipLibCheck, as an application has those only if it wants them. Under every TypeScript that is still met, or
// the newest alone.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './lib/paths.mjs';
import { packAll, publishedPackages, readManifest } from './lib/published.mjs';
import { installPacked, runQuietly } from './lib/run-quietly.mjs';
import { runMain } from './lib/run.mjs';

/** TypeScripts that are still met, by their names in `tools/package.json`, and the one in use here. */
const OLDEST = join(root, 'tools/node_modules/typescript-5.4');
const WITHOUT_WEBGPU = join(root, 'tools/node_modules/typescript-5.9');
const WITH_WEBGPU = join(root, 'tools/node_modules/typescript-6');
const NEWEST = join(root, 'node_modules/typescript');

/**
 * The types that an application has: those of the language alone, those of a page, which have WebGPU's from TypeScript 6 on, or
 * those of a page with WebGPU's from a package, which clash with TypeScript's own.
 */
/** @type {readonly { title: string, lib: string[], types: string[], compilers: string[], needs?: string }[]} */
const SURROUNDINGS = [
  { title: 'es2023', lib: ['es2023'], types: [], compilers: [OLDEST, WITHOUT_WEBGPU, WITH_WEBGPU, NEWEST] },
  { title: 'es2023 and dom', lib: ['es2023', 'dom'], types: [], compilers: [NEWEST] },
  {
    ...{ title: 'es2023, dom and @webgpu/types', lib: ['es2023', 'dom'], compilers: [WITHOUT_WEBGPU] },
    types: [join(root, 'tools/node_modules/@webgpu/types')],
    needs: '@concord/backend-webgpu',
  },
];

const OPTIONS = {
  ...{ target: 'es2022', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
  noEmit: true,
};

const newestAlone = process.argv.includes('--newest');

/** @typedef {import('./lib/published.mjs').Manifest} Manifest */

/** @param {Manifest} manifest @returns {string} a file that uses everything with types */
function importing({ name, exports = {} }) {
  const typed = Object.entries(exports).filter(([, target]) => typeof target === 'object');
  return typed.map(([path], index) => `export * as part${index} from '${name}${path.slice(1)}';\n`).join('');
}

/** @param {Manifest} manifest @param {readonly Manifest[]} all @returns {string[]} it, and ours that it depends on */
function withDependencies(manifest, all) {
  const own = all.filter(({ name }) => Object.hasOwn(manifest.dependencies ?? {}, name));
  return [...new Set([manifest.name, ...own.flatMap((dependency) => withDependencies(dependency, all))])];
}

await runMain(async () => {
  const top = mkdtempSync(join(tmpdir(), 'concord-types-'));
  try {
    const packed = packAll(root, top);
    const manifests = publishedPackages(root).map(({ manifest }) => manifest);
    const failures = [];
    for (const manifest of manifests) {
      const folder = join(top, manifest.name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
      writeFileSync(join(folder, 'index.ts'), importing(manifest));
      const names = withDependencies(manifest, manifests);
      const tarballs = packed.filter(({ name }) => names.includes(name)).map(({ tarball }) => tarball);
      installPacked(folder, ['--ignore-scripts', ...tarballs]);
      for (const name of ['@types/node', ...Object.keys(manifest.peerDependencies ?? {})]) {
        if (existsSync(join(folder, 'node_modules', name)))
          failures.push(`${manifest.name}: ${name} was installed too`);
      }
      const suitable = SURROUNDINGS.filter(({ needs }) => needs === undefined || names.includes(needs));
      for (const { title, lib, types, compilers } of suitable) {
        const compilerOptions = { ...OPTIONS, lib, types };
        writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.ts'] }));
        for (const compiler of compilers.filter((each) => !newestAlone || each === NEWEST)) {
          const { version, bin } = readManifest(compiler);
          const tsc = join(compiler, bin?.tsc ?? '');
          try {
            runQuietly(process.execPath, [tsc, '-p', folder], { cwd: folder, env: process.env, isSilent: true });
            console.log(`${manifest.name}: types compile alone, TypeScript ${version}, ${title}`);
          } catch (error) {
            const reason = error instanceof Error ? error.message : String(error);
            failures.push(`${manifest.name}, TypeScript ${version}, ${title}: ${reason}`);
          }
        }
      }
    }
    for (const failure of failures) console.error(failure);
    console.log(`types alone: ${failures.length === 0 ? 'all compile' : `${failures.length} problems`}`);
    return failures.length === 0 ? 0 : 1;
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
});

// @ts-check
// Do the types of each public package compile where only it and what it depends on is installed? No optional peer, no
// @types/node, no skipLibCheck: an application has those only if it wants them.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packAll } from './lib/pack.mjs';
import { root } from './lib/paths.mjs';
import { publishedPackages, readManifest } from './lib/published.mjs';
import { runQuietly, strangersEnvironment } from './lib/run-quietly.mjs';
import { runMain } from './lib/run.mjs';

/** The newest TypeScript, and the oldest that has WebGPU's types in its library. */
const COMPILERS = [join(root, 'node_modules/typescript'), join(root, 'api-reference/node_modules/typescript')];

const OPTIONS = {
  ...{ target: 'es2022', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
  ...{ noEmit: true, types: [] },
};

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
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, files: ['index.ts'] }));
      const names = withDependencies(manifest, manifests);
      const tarballs = packed.filter(({ name }) => names.includes(name)).map(({ tarball }) => tarball);
      const install = [
        'install',
        '--no-audit',
        '--no-fund',
        '--loglevel=error',
        '--prefer-offline',
        '--ignore-scripts',
      ];
      runQuietly('npm', [...install, ...tarballs], { cwd: folder, env: strangersEnvironment() });
      for (const name of ['@types/node', ...Object.keys(manifest.peerDependencies ?? {})]) {
        if (existsSync(join(folder, 'node_modules', name)))
          failures.push(`${manifest.name}: ${name} was installed too`);
      }
      for (const compiler of COMPILERS) {
        const { version, bin } = readManifest(compiler);
        const tsc = join(compiler, bin?.tsc ?? '');
        try {
          runQuietly(process.execPath, [tsc, '-p', folder], { cwd: folder, env: process.env, isSilent: true });
          console.log(`${manifest.name}: types compile alone, TypeScript ${version}`);
        } catch (error) {
          failures.push(
            `${manifest.name}, TypeScript ${version}: ${error instanceof Error ? error.message : String(error)}`,
          );
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

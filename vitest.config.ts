import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

interface Manifest {
  name: string;
  exports?: Record<string, string | { default: string }>;
}

const foldersIn = (parent: string): string[] => readdirSync(parent).map((name) => `${parent}/${name}`);
const workspaces = [...foldersIn('packages'), ...foldersIn('examples'), 'bench', 'tools']
  .filter((folder) => existsSync(join(folder, 'package.json')))
  .map((folder) => ({ folder, manifest: readManifest(folder) }));

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

// Tests run against sources: nothing to rebuild while watching, and one copy of each module. Each export of a package is
// mapped from its built file back to the source of it.
const sources = workspaces.flatMap(({ folder, manifest }) =>
  Object.entries(manifest.exports ?? {}).flatMap(([path, target]) => {
    if (typeof target === 'string') return [];
    const source = target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
    return { find: manifest.name + path.slice(1), replacement: join(import.meta.dirname, folder, source) };
  }),
);

export default defineConfig({
  resolve: {
    alias: sources.map(({ find, replacement }) => ({ find: new RegExp(`^${find}$`), replacement })),
  },
  test: {
    testTimeout: 30_000,
    projects: workspaces.map(({ folder, manifest }) => ({
      extends: true,
      test: {
        name: manifest.name.replace('@concord/', ''),
        root: folder,
        include: ['src/**/*.test.ts', 'test/**/*.test.{ts,mjs}'],
      },
    })),
  },
});

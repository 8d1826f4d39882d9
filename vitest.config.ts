import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

interface Manifest {
  name: string;
  exports?: Record<string, string | { default: string }>;
  imports?: Record<string, { node: string }>;
}

// The device that the tests of a backend run on has to be there before the backend looks for one.
const SETUP: Record<string, string[]> = {
  'packages/backend-webgpu': ['test/support/software-device.ts'],
  'packages/backend-levelzero': ['test/support/software-device.ts'],
};

const REQUIRED = { CONCORD_REQUIRE: process.env['CONCORD_REQUIRE'] ?? '' };

const foldersIn = (parent: string): string[] => readdirSync(parent).map((name) => `${parent}/${name}`);
const workspaces = [
  ...foldersIn('packages'),
  ...foldersIn('examples'),
  'bench',
  'tools',
  'software-devices/chromium',
  'software-devices/level-zero-cpu',
  'software-devices/vulkan',
]
  .filter((folder) => existsSync(join(folder, 'package.json')))
  .map((folder) => ({ folder, manifest: readManifest(folder) }));

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

// Tests run against sources: nothing to rebuild while watching, and one copy of each module. Each export of a package is
// mapped from its built file back to the source of it, and each "import" of its own.
const sources = workspaces.flatMap(({ folder, manifest }) => {
  const sourceOf = (built: string): string =>
    join(import.meta.dirname, folder, built.replace('./dist/', 'src/').replace(/\.js$/, '.ts'));
  return [
    ...Object.entries(manifest.exports ?? {}).flatMap(([path, target]) =>
      typeof target === 'string' ? [] : { find: manifest.name + path.slice(1), replacement: sourceOf(target.default) },
    ),
    ...Object.entries(manifest.imports ?? {}).map(([find, { node }]) => ({ find, replacement: sourceOf(node) })),
  ];
});

export default defineConfig({
  resolve: {
    alias: sources.map(({ find, replacement }) => ({ find: new RegExp(`^${find}$`), replacement })),
  },
  test: {
    testTimeout: 30_000,
    // What a shell sets for a run of all tests is meant for the conformance of the backends, not for tests of programs.
    env: { CONCORD_BACKEND: '', CONCORD_REQUIRE: '' },
    projects: [
      ...workspaces.map(({ folder, manifest }) => ({
        extends: true as const,
        test: {
          name: manifest.name.replace('@concord/', ''),
          root: folder,
          include: ['src/**/*.test.ts', 'test/**/*.test.{ts,mjs}'],
          setupFiles: SETUP[folder] ?? [],
          env: folder.startsWith('packages/backend-') ? REQUIRED : {},
        },
      })),
      {
        // A second device, for what the first one and the specification leave open.
        extends: true as const,
        test: {
          name: 'backend-webgpu-swiftshader',
          root: 'packages/backend-webgpu',
          include: ['test/conformance.test.ts', 'test/faults.test.ts'],
          setupFiles: SETUP['packages/backend-webgpu'] ?? [],
          env: { ...REQUIRED, CONCORD_SOFTWARE_VULKAN: 'swiftshader', CONCORD_SAMPLE: '0.1' },
        },
      },
    ],
  },
});

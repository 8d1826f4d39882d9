import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { environmentOf, partOf, sampleOfTenth, testsOf } from './tools/lib/test-parts.mjs';
import { faultPlugins } from './tools/mutate/faults.mjs';

interface Manifest {
  name: string;
  exports?: Record<string, string | { default: string }>;
  imports?: Record<string, { node: string }>;
}

// `npm test` runs a share of the tests, `npm run test:all` all of them; so does vitest by itself.
const part = partOf(process.env);
const turn = process.env['CONCORD_TEST_TURN'];

// The device that the tests of a backend run on has to be there before the backend looks for one.
const SETUP: Record<string, string[]> = {
  'packages/backend-webgpu': ['test/support/software-device.ts'],
  'packages/backend-levelzero': ['test/support/software-device.ts'],
  'packages/ops': ['test/support/software-devices.ts'],
  'packages/grad': ['../ops/test/support/software-devices.ts'],
  'examples/train': ['../../packages/ops/test/support/software-devices.ts'],
  'examples/lm': ['../../packages/ops/test/support/software-devices.ts'],
};

// The global setup that the long tests of a workspace share.
const GLOBAL_SETUP: Record<string, string[]> =
  part === 'share'
    ? {}
    : {
        'docs/site': ['test/support/build-site.mjs'],
        'packages/onnx': ['test/support/fetch-node-tests.mjs'],
      };

const REQUIRED = { CONCORD_REQUIRE: process.env['CONCORD_REQUIRE'] ?? '' };

// Its driver for the CPU is for Linux. Elsewhere the tests run on a device that the machine has, when asked to.
const hasLevelZero =
  process.platform === 'linux' ||
  process.env['CONCORD_LEVEL_ZERO'] === 'system' ||
  REQUIRED.CONCORD_REQUIRE.includes('level-zero');
const NEED_LEVEL_ZERO = [
  'packages/backend-levelzero',
  'software-devices/intel-driver',
  'software-devices/level-zero-cpu',
];
if (!hasLevelZero) {
  console.log(`not run, as there is no Level Zero on ${process.platform}: tests of ${NEED_LEVEL_ZERO.join(', ')}`);
}

const foldersIn = (parent: string): string[] => readdirSync(parent).map((name) => `${parent}/${name}`);
const workspaces = [
  ...foldersIn('packages'),
  ...foldersIn('examples'),
  ...foldersIn('apps'),
  'bench',
  'docs/site',
  'tools',
  'software-devices/chromium',
  'software-devices/deno',
  'software-devices/intel-driver',
  'software-devices/level-zero-cpu',
  'software-devices/vulkan',
]
  .filter((folder) => existsSync(join(folder, 'package.json')))
  .map((folder) => ({ folder, manifest: readManifest(folder) }));

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

// Their tests leave no trace in a process (vitest restores mocks and what is stubbed after each file), so files share the
// modules that one has loaded: loading them takes as long as many tests. Only in the share, whose files are many and small.
// Others count what is one per process: Level Zero's driver, the slots of backend-core, the tensors of ops.
const SHARING: ReadonlySet<string> = new Set(
  ['backend-cpu', 'backend-wasm', 'backend-webgpu', 'cli', 'conformance', 'kernel', 'spirv-builder', 'variants'].map(
    (name) => `packages/${name}`,
  ),
);

// Of a tenth of the suite, `npm test` runs this share and `npm run test:all` what is left of it.
const OF_A_TENTH = sampleOfTenth(part, turn);

// Level Zero's loader checks the arguments of every call.
const VALIDATED = {
  extends: true as const,
  test: {
    name: 'backend-levelzero-validated',
    root: 'packages/backend-levelzero',
    include: ['test/conformance.test.ts', ...(part === 'rest' ? [] : ['test/validation-layer.test.ts'])],
    setupFiles: SETUP['packages/backend-levelzero'] ?? [],
    env: {
      ...REQUIRED,
      ZE_ENABLE_VALIDATION_LAYER: '1',
      ZE_ENABLE_PARAMETER_VALIDATION: '1',
      ...OF_A_TENTH,
    },
  },
};

// A second device, for behaviour that the specification leaves open and the first device does not show.
const SWIFTSHADER = {
  extends: true as const,
  test: {
    name: 'backend-webgpu-swiftshader',
    root: 'packages/backend-webgpu',
    include: ['test/conformance.test.ts', ...(part === 'rest' ? [] : ['test/faults.test.ts'])],
    setupFiles: SETUP['packages/backend-webgpu'] ?? [],
    env: { ...REQUIRED, CONCORD_SOFTWARE_VULKAN: 'swiftshader', ...OF_A_TENTH },
  },
};

// Tests run against sources: nothing to rebuild while watching, and one copy of each module. Each export of a package is
// mapped from its built file back to its source, and each of its "imports" too.
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

const plugins = faultPlugins();

export default defineConfig({
  plugins,
  resolve: {
    alias: sources.map(({ find, replacement }) => ({ find: new RegExp(`^${find}$`), replacement })),
  },
  test: {
    // For what hangs, not for what is slow: a machine may be busy.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Transformed sources are kept for the next process, and the next run; but for those with a fault in them.
    experimental: { fsModuleCache: plugins.length === 0 },
    // The default leaves one core to the main process, which is half of a machine with two.
    maxWorkers: '100%',
    setupFiles: [join(import.meta.dirname, 'tools/lib/compare-patterns.mjs')],
    // These variables of a shell are for the conformance of the backends, not for tests of programs.
    env: { CONCORD_BACKEND: '', CONCORD_REQUIRE: '' },
    projects: [
      ...workspaces
        .filter(({ folder }) => hasLevelZero || !NEED_LEVEL_ZERO.includes(folder))
        .map(({ folder, manifest }) => ({ folder, manifest, tests: testsOf(part, folder, turn) }))
        .filter(({ tests }) => tests.include?.length !== 0)
        .map(({ folder, manifest, tests }) => ({
          extends: true as const,
          test: {
            name: manifest.name.replace('@concord/', ''),
            root: folder,
            include: [...(tests.include ?? ['src/**/*.test.ts', 'test/**/*.test.{ts,mjs}'])],
            exclude: [...configDefaults.exclude, ...tests.exclude],
            setupFiles: SETUP[folder] ?? [],
            globalSetup: GLOBAL_SETUP[folder] ?? [],
            isolate: part !== 'share' || !SHARING.has(folder),
            env: /^packages\/(backend-|spirv-builder$)/.test(folder)
              ? { ...REQUIRED, ...environmentOf(part, turn) }
              : {},
          },
        })),
      SWIFTSHADER,
      ...(hasLevelZero ? [VALIDATED] : []),
    ],
  },
});

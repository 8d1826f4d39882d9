import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LevelZeroBackend, type LevelZeroBackendOptions, levelZeroVariants } from '../src/index.ts';
import { VERSION } from '../src/version.ts';

// The cache folder of a user is one of the test's own.

const SHAPE = { m: 64, n: 64, k: 64 };
let cache: string;
const opened: LevelZeroBackend[] = [];

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'concord-tuning-'));
  vi.stubEnv('XDG_CACHE_HOME', cache);
});

afterEach(async () => {
  for (const backend of opened.splice(0)) await backend.dispose();
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true });
});

async function open(options: LevelZeroBackendOptions = {}): Promise<LevelZeroBackend> {
  const backend = new LevelZeroBackend(options);
  await backend.init();
  opened.push(backend);
  return backend;
}

/** Multiplies, and tells which variants ran. */
function runsOf(backend: LevelZeroBackend): readonly string[] {
  const [a, b, c] = [0, 0, 0].map(() => backend.alloc(4 * 64 * 64)) as [never, never, never];
  backend.gemm({ ...SHAPE, a, b, c });
  return Object.keys(backend.variants().runs);
}

it('variants are forced by option, by environment, and later', async () => {
  const backend = await open();
  expect(backend.native.tuning.choices('gemm', SHAPE)).toEqual([
    {
      shapeClass: 'gemm f32 NN 6 6 6 0',
      candidates: ['gemm/wide', 'gemm/direct'],
      preferred: 'gemm/wide',
      picked: 'gemm/wide',
    },
  ]);
  expect(runsOf(backend)).toEqual(['gemm/wide']);
  backend.native.tuning.force(['gemm/d*']);
  expect(runsOf(backend)).toEqual(['gemm/wide', 'gemm/direct']);
  expect(backend.variants().forced).toEqual(['gemm/d*']);
  expect(runsOf(await open({ variants: ['gemm/direct'] }))).toEqual(['gemm/direct']);
  vi.stubEnv('CONCORD_VARIANT', 'webgpu:gemm/tiled-*, level-zero:gemm/direct');
  expect(runsOf(await open())).toEqual(['gemm/direct']);
});

it.each([[{ variants: ['gemm/tiled-*'] }], [{ variants: 'gemm/*' }], [{ tuning: 'ingore' }]])(
  'refuses %j',
  async (options) => {
    await expect(open(options as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  },
);

it('a profile is written, and the next backend goes by it', async () => {
  const { native } = await open();
  const path = native.tuning.save({ choices: { 'gemm f32 NN 6 6 6 0': 'gemm/direct' }, measured: {} });
  expect(path.startsWith(join(cache, 'concord', 'level-zero'))).toBe(true);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
    format: 'concord-level-zero-profile',
    backendVersion: VERSION,
  });
  const next = await open();
  expect(next.native.tuning.profile).toMatchObject({ state: 'used', path });
  expect(runsOf(next)).toEqual(['gemm/direct']);
  expect(runsOf(await open({ tuning: 'ignore' }))).toEqual(['gemm/wide']);
});

it('says its version', () => {
  const manifest: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));
  expect(manifest).toHaveProperty('version', VERSION);
});

it('the README has every variant, and no other', () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const families = new Set(levelZeroVariants.ids.map((id) => id.split('/')[0]));
  const all = [...readme.matchAll(/`(([a-z\d-]+)\/[\w-]+)`/g)];
  const named = all.flatMap(([, id, family]) => (families.has(family) ? id : []));
  expect(new Set(named)).toEqual(new Set(levelZeroVariants.ids));
});

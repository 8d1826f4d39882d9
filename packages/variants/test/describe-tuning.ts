import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ComputeBackend, VariantReport } from '@concord/backend-core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { VariantTuning } from '../src/index.ts';

/** A backend that chooses between variants. */
interface Tuned extends ComputeBackend {
  readonly native: { readonly tuning: VariantTuning };
  variants(): VariantReport;
}

/** What decides between its variants. */
interface TuningOptions {
  readonly variants?: readonly string[];
  readonly tuning?: 'use' | 'ignore';
}

const SHAPE = { m: 64, n: 64, k: 64 };

/** Multiplies, and tells which variants ran. */
function runsOf(backend: Tuned): readonly string[] {
  const [a, b, c] = [0, 0, 0].map(() => backend.alloc(4 * 64 * 64)) as [never, never, never];
  backend.gemm({ ...SHAPE, a, b, c });
  return Object.keys(backend.variants().runs);
}

/** A class of calls, and a variant for it that the plan would not take. */
function another(backend: Tuned): {
  readonly shapeClass: string;
  readonly id: string;
  readonly preferred: string;
} {
  const [pick] = backend.native.tuning.choices('gemm', SHAPE);
  if (pick === undefined) throw new Error('a product has no choice');
  const { shapeClass, candidates, preferred } = pick;
  const id = candidates.find((candidate) => candidate !== preferred);
  if (id === undefined) throw new Error('a product has one variant only');
  return { shapeClass, id, preferred };
}

/**
 * Properties of a backend whose variants are chosen by measured profiles, by option and by environment. The cache folder of
 * a user is one of the test's own.
 *
 * @param name - of the backend
 * @param make - makes one, which is not initialized
 */
export function describeTuning(name: string, version: string, make: (options: TuningOptions) => Tuned): void {
  let cache: string;
  const opened: Tuned[] = [];

  beforeEach(() => {
    cache = mkdtempSync(join(tmpdir(), 'concord-tuning-'));
    vi.stubEnv('XDG_CACHE_HOME', cache);
  });

  afterEach(async () => {
    for (const backend of opened.splice(0)) await backend.dispose();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    rmSync(cache, { recursive: true });
  });

  async function open(options: TuningOptions = {}): Promise<Tuned> {
    const backend = make(options);
    await backend.init();
    opened.push(backend);
    return backend;
  }

  it('a profile is written, found by the next backend, and extended', async () => {
    const first = await open();
    const { shapeClass, id, preferred } = another(first);
    expect(first.native.tuning.profile).toMatchObject({ state: 'none' });
    expect(runsOf(first)).toEqual([preferred]);
    const path = first.native.tuning.save({ choices: { [shapeClass]: id }, measured: { [shapeClass]: { [id]: 1 } } });
    expect(path.startsWith(join(cache, 'concord', name))).toBe(true);

    const second = await open();
    expect(second.native.tuning.profile).toMatchObject({ state: 'used', path });
    expect(second.native.tuning.profile.detail).toMatch(/^1 shape class/);
    expect(runsOf(second)).toEqual([id]);
    second.native.tuning.save({ choices: { other: 'gemm/x' }, measured: {} });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      backendVersion: version,
      choices: { [shapeClass]: id, other: 'gemm/x' },
      measured: { [shapeClass]: { [id]: 1 } },
    });
    // No drafts are left behind.
    expect(readdirSync(dirname(path))).toHaveLength(1);
  });

  it('a damaged profile is ignored with a warning, and computes what it would without', async () => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const first = await open();
    const { preferred } = another(first);
    const path = first.native.tuning.save({ choices: {}, measured: {} });
    writeFileSync(path, '{"format":');
    const second = await open();
    expect(second.native.tuning.profile).toMatchObject({ state: 'ignored', path, detail: 'it is not JSON' });
    expect(runsOf(second)).toEqual([preferred]);
    await open();
    expect(warnings.mock.calls.filter(([message]) => String(message).includes(path))).toHaveLength(1);
  });

  it('can be gone without, by option and by environment', async () => {
    const first = await open();
    const { shapeClass, id, preferred } = another(first);
    first.native.tuning.save({ choices: { [shapeClass]: id }, measured: {} });
    expect(runsOf(await open({ tuning: 'ignore' }))).toEqual([preferred]);
    vi.stubEnv('CONCORD_TUNING', 'ignore');
    const ignoring = await open();
    expect(ignoring.native.tuning.profile.state).toBe('ignored');
    expect(runsOf(ignoring)).toEqual([preferred]);
    expect(runsOf(await open({ tuning: 'use' }))).toEqual([id]);
  });

  it.each([[{ variants: 'gemm/*' }], [{ variants: [3] }], [{ tuning: 'ingore' }]])('refuses %j', async (options) => {
    await expect(open(options as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('a list of forced variants is the backend’s own', async () => {
    const backend = await open();
    const { id } = another(backend);
    const list = [id];
    backend.native.tuning.force(list);
    list[0] = 'gemm/nothing';
    expect(backend.variants().forced).toEqual([id]);
    expect(runsOf(backend)).toEqual([id]);
  });

  it('works where the user has no home', async () => {
    vi.stubEnv('XDG_CACHE_HOME', '');
    vi.spyOn(os, 'homedir').mockImplementation(() => {
      throw new Error('uv_os_homedir returned ENOENT');
    });
    const { native } = await open();
    expect(native.tuning.profile).toEqual({ state: 'none', detail: 'there are no files here' });
    expect(() => native.tuning.checkCanSave()).toThrow('uv_os_homedir');
  });

  it('a profile that is not used keeps what it had when it is extended', async () => {
    const first = await open();
    const { shapeClass, id, preferred } = another(first);
    first.native.tuning.save({ choices: { [shapeClass]: id }, measured: {} });
    const ignoring = await open({ tuning: 'ignore' });
    const path = ignoring.native.tuning.save({ choices: { other: 'gemm/x' }, measured: {} });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ choices: { [shapeClass]: id, other: 'gemm/x' } });
    expect(runsOf(ignoring)).toEqual([preferred]);
  });

  it('nothing is left behind where a profile cannot be written', async () => {
    const { tuning } = (await open()).native;
    tuning.checkCanSave();
    const path = tuning.save({ choices: {}, measured: {} });
    rmSync(path);
    mkdirSync(path);
    expect(() => tuning.save({ choices: {}, measured: {} })).toThrow();
    expect(readdirSync(dirname(path))).toHaveLength(1);
    vi.stubEnv('XDG_CACHE_HOME', join(import.meta.filename, 'below'));
    expect(() => tuning.checkCanSave()).toThrow(/ENOTDIR|EEXIST/);
  });

  it('there are two words for CONCORD_TUNING', async () => {
    vi.stubEnv('CONCORD_TUNING', 'off');
    await expect(open()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('variants are forced by option, by environment, and later', async () => {
    const { id, preferred } = another(await open());
    const byOption = await open({ variants: [id] });
    expect(runsOf(byOption)).toEqual([id]);
    expect(byOption.variants().forced).toEqual([id]);
    byOption.native.tuning.force([]);
    expect(runsOf(byOption)).toEqual([id, preferred]);
    vi.stubEnv('CONCORD_VARIANT', ` ${id} , gemm/*, other:gemm/none,`);
    expect(runsOf(await open())).toEqual([id]);
  });

  it.each([['gemm/tiled-1x1'], ['convolution/*']])('there is no variant %s', async (variant) => {
    await expect(open({ variants: [variant] })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    vi.stubEnv('CONCORD_VARIANT', variant);
    await expect(open()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      hint: expect.stringMatching(/gemm\//) as unknown,
    });
  });
}

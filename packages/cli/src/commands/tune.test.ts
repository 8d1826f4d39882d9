import { CpuBackend } from '@concord/backend-cpu';
import type { VariantPick } from '@concord/variants';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { missing, run, working } from '../../test/fakes.ts';

interface Saved {
  readonly choices: Readonly<Record<string, string>>;
  readonly measured: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

// A separate clock: the time of a call must not depend on what else the machine does.
let clock = 0;
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => (clock += 0.001)));
afterEach(() => vi.restoreAllMocks());

/** A backend with two or three ways to reduce; the wrong one computes nothing. */
class TunableBackend extends CpuBackend {
  static candidates: readonly string[] = [];
  static saved: Saved | undefined;
  static canSave = true;
  static preferred = 'reduce/slow';
  #forced: string | undefined;

  readonly tuning = {
    profile: { state: 'none', detail: 'concord tune makes one' },
    choices: (op: string): readonly VariantPick[] =>
      op === 'reduce'
        ? [
            {
              shapeClass: 'reduce',
              candidates: TunableBackend.candidates,
              preferred: TunableBackend.preferred,
              picked: TunableBackend.preferred,
            },
          ]
        : [],
    force: ([id]: readonly string[]): void => {
      this.#forced = id;
    },
    save: (saved: Saved): string => {
      if (!TunableBackend.canSave) throw new Error('EROFS: read-only file system');
      TunableBackend.saved = saved;
      return '/cache/profile.json';
    },
    checkCanSave: (): void => {
      if (!TunableBackend.canSave) throw new Error('EROFS: read-only file system');
    },
  };

  constructor() {
    super();
    Object.assign(this, { native: { tuning: this.tuning } });
  }

  override reduce(call: Parameters<CpuBackend['reduce']>[0]): void {
    if (this.#forced === 'reduce/wrong') return;
    if (this.#forced === 'reduce/broken') throw new Error('it fell apart');
    super.reduce(call);
    clock += this.#forced === 'reduce/slow' ? 2 : 0.1;
  }
}

const tunable = working('webgpu', {}, TunableBackend);
const tune = (...args: readonly string[]) =>
  run(['tune', '--size', 'small', '--seconds', '0.001', ...args], [tunable, working('cpu')]);

test('keeps what is fastest, and says what it gains', async () => {
  Object.assign(TunableBackend, { candidates: ['reduce/slow', 'reduce/fast'], saved: undefined, canSave: true });
  const { code, stdout } = await tune();
  expect(code).toBe(0);
  expect(stdout).toMatch(/reduce\/all\/\S+ +reduce\/fast +\d+\.\d\dx +2/);
  expect(stdout).toContain('1 shape measured, 1 better than the default');
  expect(stdout).toContain('Profile: /cache/profile.json');
  expect(TunableBackend.saved?.choices).toEqual({ reduce: 'reduce/fast' });
  const [times] = Object.values(TunableBackend.saved?.measured ?? {});
  expect(times?.['reduce/slow']).toBeGreaterThan(times?.['reduce/fast'] as number);
});

test('never keeps a variant that is wrong, and fails', async () => {
  Object.assign(TunableBackend, { candidates: ['reduce/slow', 'reduce/wrong'], saved: undefined });
  const { code, stdout } = await tune('--op', 'reduce');
  expect(code).toBe(1);
  expect(stdout).toMatch(/FAILED reduce\/wrong at reduce\/all\S*: entry 0 is NaN/);
  expect(TunableBackend.saved?.choices).toEqual({ reduce: 'reduce/slow' });
});

test('--dry-run writes no profile; --json tells all', async () => {
  Object.assign(TunableBackend, { candidates: ['reduce/slow', 'reduce/fast'], saved: undefined });
  const { code, stdout, stderr } = await tune('--dry-run', '--json', '-');
  expect(code).toBe(0);
  expect(TunableBackend.saved).toBeUndefined();
  expect(stderr).toContain('No profile written');
  expect(JSON.parse(stdout)).toMatchObject({
    backend: 'webgpu',
    profile: null,
    classes: [{ shapeClass: 'reduce', preferred: 'reduce/slow', chosen: 'reduce/fast', failures: {} }],
  });
});

test('where the profile cannot be written it says so', async () => {
  Object.assign(TunableBackend, { candidates: ['reduce/slow', 'reduce/fast'], saved: undefined, canSave: false });
  const { code, stderr } = await tune();
  expect(code).toBe(1);
  expect(stderr).toMatch(/profile cannot be written: EROFS.*CANNOT_WRITE/s);
  expect(stderr).toContain('--dry-run');
  // Before anything is measured.
  expect(stderr).not.toContain('reduce/all');
});

test('a variant that throws is a failure of that variant', async () => {
  Object.assign(TunableBackend, { candidates: ['reduce/slow', 'reduce/broken', 'reduce/fast'], canSave: true });
  const { code, stdout } = await tune('--op', 'reduce');
  expect(code).toBe(1);
  expect(stdout).toMatch(/FAILED reduce\/broken at reduce\/all\S*: it fell apart/);
  expect(TunableBackend.saved?.choices).toEqual({ reduce: 'reduce/fast' });
});

test.each(['reduce/wrong', 'reduce/broken'])('a default that does not work, %s, gives way', async (preferred) => {
  Object.assign(TunableBackend, { candidates: [preferred, 'reduce/slow'], saved: undefined, preferred });
  const { code } = await tune('--op', 'reduce');
  TunableBackend.preferred = 'reduce/slow';
  expect(code).toBe(1);
  expect(TunableBackend.saved).toMatchObject({ choices: { reduce: 'reduce/slow' } });
});

test('says for what there is nothing to choose, and then writes nothing', async () => {
  Object.assign(TunableBackend, { candidates: ['reduce/slow'], saved: undefined });
  const { code, stdout } = await tune('--op', 'reduce,unary');
  expect(code).toBe(0);
  expect(stdout).toMatch(/Nothing to choose for .*reduce\/all.*unary/);
  expect(stdout).toContain('No profile written');
  expect(TunableBackend.saved).toBeUndefined();
});

test('refuses what cannot be tuned', async () => {
  expect(await tune('--backend', 'cpu')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no kernel variants') as unknown,
  });
  expect(await tune('--backend', 'none')).toMatchObject({ code: 2 });
  expect(await tune('--backend', 'webgpu,cpu')).toMatchObject({ code: 2 });
  expect(await tune('--op', 'conv9d')).toMatchObject({ code: 2 });
  expect(await tune('--op', 'memory')).toMatchObject({ code: 2 });
  expect(await tune('--seconds', '0')).toMatchObject({ code: 2 });
  expect(await run(['tune'], [missing('webgpu')])).toMatchObject({ code: 3 });
});

test('Ctrl-C leaves the profile as it was', async () => {
  Object.assign(TunableBackend, { candidates: ['reduce/slow', 'reduce/fast'], saved: undefined, canSave: true });
  const stop = new AbortController();
  stop.abort();
  const { code, stdout } = await run(['tune', '--size', 'small'], [tunable], { signal: stop.signal });
  expect(code).toBe(130);
  expect(stdout).toContain('the profile is as it was');
  expect(TunableBackend.saved).toBeUndefined();
});

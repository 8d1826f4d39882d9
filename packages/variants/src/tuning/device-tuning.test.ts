import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { VariantSet } from '../variant-choice.ts';
import { DeviceTuning } from './device-tuning.ts';
import { checkTuningEnvironment } from './tuning-settings.ts';

const acme: VariantSet = { backend: 'acme', version: '1.2.3', ids: ['gemm/a', 'gemm/b', 'reduce/a'] };
const other: VariantSet = { backend: 'other', version: '1.2.3', ids: ['gemm/c'] };
const device = { vendor: 'acme', name: 'Acme 9000', driver: 'Acme 1.2', type: 'discrete' } as const;
let cache: string;

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'concord-variants-'));
  vi.stubEnv('XDG_CACHE_HOME', cache);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true });
});

const forcedBy = (set: VariantSet): readonly string[] => new DeviceTuning(set, device, {}).preferences.forced;

it('keeps the profiles of backends apart', () => {
  const path = new DeviceTuning(acme, device, {}).save({ choices: { 'gemm 1': 'gemm/b' }, measured: {} });
  expect(path).toContain(join('concord', 'acme'));
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
    format: 'concord-acme-profile',
    device: { name: 'Acme 9000' },
  });
  expect(new DeviceTuning(acme, device, {}).preferences.tuned).toEqual({ 'gemm 1': 'gemm/b' });
  expect(new DeviceTuning(other, device, {}).profile).toMatchObject({ state: 'none' });
});

it('takes what is shipped for a device, unless a profile of the user says otherwise', () => {
  const { vendor, name } = device;
  const shipped = [
    {
      device: { vendor, name },
      driver: 'Acme 1.0',
      tunedAt: '2026-01-31',
      choices: { 'gemm 1': 'gemm/b', 'gemm 2': 'gemm/b' },
    },
    { device: { vendor, name: 'Acme 1' }, driver: 'Acme 1.0', tunedAt: '2026-01-31', choices: { 'gemm 3': 'gemm/b' } },
  ];
  const set = { ...acme, shipped };
  const tuning = new DeviceTuning(set, device, {});
  expect(tuning.profile).toEqual({
    state: 'shipped',
    detail: '2 shape classes, 2026-01-31; concord tune measures this machine',
  });
  expect(tuning.preferences.tuned).toEqual({ 'gemm 1': 'gemm/b', 'gemm 2': 'gemm/b' });
  expect(new DeviceTuning(set, device, { tuning: 'ignore' }).preferences.tuned).toEqual({});
  expect(new DeviceTuning(set, { ...device, name: 'Acme 2' }, {}).profile).toMatchObject({ state: 'none' });

  tuning.save({ choices: { 'gemm 1': 'gemm/a' }, measured: {} });
  const saved = new DeviceTuning(set, device, {});
  expect(saved.profile).toMatchObject({ state: 'used' });
  expect(saved.preferences.tuned).toEqual({ 'gemm 1': 'gemm/a', 'gemm 2': 'gemm/b' });

  // After an upgrade.
  vi.spyOn(process, 'emitWarning').mockReturnValue();
  const upgraded = new DeviceTuning({ ...set, version: '1.2.4' }, device, {});
  expect(upgraded.profile).toMatchObject({
    state: 'ignored',
    detail: expect.stringMatching(/is used: 2 shape classes/),
  });
  expect(upgraded.preferences.tuned).toEqual({ 'gemm 1': 'gemm/b', 'gemm 2': 'gemm/b' });
});

it('excludes by id or glob, once, and makes plans be made anew', () => {
  const tuning = new DeviceTuning(acme, device, {});
  const before = tuning.preferences.excluded;
  tuning.exclude('gemm/a', { reason: 'kernel gemm/a does not build', kernel: 'gemm/a', log: 'error: 1' });
  tuning.exclude('gemm/*', { reason: 'the trial gave 3 instead of 4' });
  expect(tuning.preferences.excluded).not.toBe(before);
  expect(tuning.excluded).toEqual([
    { id: 'gemm/a', reason: 'kernel gemm/a does not build', kernel: 'gemm/a', log: 'error: 1' },
    { id: 'gemm/b', reason: 'the trial gave 3 instead of 4' },
  ]);
  expect(() => tuning.exclude('conv2d/*', { reason: 'why not' })).toThrow(/no kernel variant is called conv2d/);
});

it('CONCORD_VARIANT may say whose a variant is', () => {
  vi.stubEnv('CONCORD_VARIANT', 'acme:gemm/a, other:gemm/*,');
  expect([acme, other].map(forcedBy)).toEqual([['gemm/a'], ['gemm/*']]);
  expect(() => checkTuningEnvironment([acme, other])).not.toThrow();
  vi.stubEnv('CONCORD_VARIANT', 'acme:gemm/c');
  expect(() => forcedBy(acme)).toThrow(/CONCORD_VARIANT: no kernel variant of acme is called "gemm\/c"/);
  expect(forcedBy(other)).toEqual([]);
});

it('a variant of one backend is none of another, and the check of several takes those of each', () => {
  vi.stubEnv('CONCORD_VARIANT', 'gemm/c');
  expect(forcedBy(other)).toEqual(['gemm/c']);
  expect(() => forcedBy(acme)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', hint: 'there are gemm/a, gemm/b' }),
  );
  expect(() => checkTuningEnvironment([acme, other])).not.toThrow();
  vi.stubEnv('CONCORD_VARIANT', 'gemm/d');
  expect(() => checkTuningEnvironment([acme, other])).toThrow(/no kernel variant is called "gemm\/d"/);
  vi.stubEnv('CONCORD_VARIANT', '');
  vi.stubEnv('CONCORD_TUNING', 'off');
  expect(() => checkTuningEnvironment([acme])).toThrow('CONCORD_TUNING must be use or ignore, got off');
});

it('save adds to what is in the file by now, and to nothing else', () => {
  const shipped = [{ device, driver: 'Acme 1.0', tunedAt: '2026-01-31', choices: { 'gemm 9': 'gemm/b' } }];
  const set = { ...acme, shipped };
  const first = new DeviceTuning(set, device, {});
  const ignoring = new DeviceTuning(set, device, { tuning: 'ignore' });
  // Another process, meanwhile.
  new DeviceTuning(set, device, {}).save({ choices: { 'gemm 1': 'gemm/a' }, measured: {} });
  const choicesOf = (path: string): unknown => (JSON.parse(readFileSync(path, 'utf8')) as { choices: unknown }).choices;
  expect(choicesOf(first.save({ choices: { 'gemm 2': 'gemm/b' }, measured: {} }))).toEqual({
    'gemm 1': 'gemm/a',
    'gemm 2': 'gemm/b',
  });
  expect(choicesOf(ignoring.save({ choices: { 'gemm 3': 'gemm/a' }, measured: {} }))).toEqual({
    'gemm 1': 'gemm/a',
    'gemm 2': 'gemm/b',
    'gemm 3': 'gemm/a',
  });
});

it.each<readonly [string, (first: DeviceTuning) => DeviceTuning]>([
  ['the same', (first) => first],
  ['a later one', () => new DeviceTuning(acme, device, {})],
  ['one that ignores the profile', () => new DeviceTuning(acme, device, { tuning: 'ignore' })],
])('what is saved again by %s takes the place of what was saved before', (_, next) => {
  const first = new DeviceTuning(acme, device, {});
  const old = { 'gemm/a': 1, 'gemm/b': 2 };
  first.save({
    choices: { 'gemm 1': 'gemm/a', 'gemm 2': 'gemm/a', 'reduce 1': 'reduce/a' },
    measured: { 'gemm 1': old, 'gemm 2': old },
  });
  const again = { 'gemm/a': 4, 'gemm/b': 3 };
  const second = next(first);
  const path = second.save({ choices: { 'gemm 1': 'gemm/b', 'gemm 3': 'gemm/b' }, measured: { 'gemm 1': again } });
  const choices = { 'gemm 1': 'gemm/b', 'gemm 2': 'gemm/a', 'gemm 3': 'gemm/b', 'reduce 1': 'reduce/a' };
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
    choices,
    measured: { 'gemm 1': again, 'gemm 2': old },
  });
  expect(second.preferences.tuned).toMatchObject({ 'gemm 1': 'gemm/b', 'gemm 3': 'gemm/b' });
  expect(new DeviceTuning(acme, device, {}).preferences.tuned).toEqual(choices);
});

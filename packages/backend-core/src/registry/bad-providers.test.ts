import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectRejection } from '../../test/expect-error.ts';
import { gate, MemoryBackend } from '../../test/memory-backend.ts';
import { type Attempt, type BackendProvider, formatAttempts, selectBackend } from '../index.ts';

beforeEach(() => {
  vi.stubEnv('CONCORD_BACKEND', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const never = (): never => {
  throw new Error('a trap');
};
const trap: object = new Proxy({}, { get: never, has: never, getPrototypeOf: never });
const device = { vendor: 'v', name: 'd', type: 'discrete', driver: '1' } as const;
const hang = (): Promise<never> => new Promise(() => undefined);

/** A provider that is tried before the good one. */
const bad = (changes: object): BackendProvider => ({
  name: 'bad',
  priority: 1,
  contractVersion: 3,
  probe: async () => ({ available: true, devices: [device] }),
  create: () => new MemoryBackend(),
  ...changes,
});
const good = bad({ name: 'good', priority: 0 });

/** The outcome for a provider beside a good one. */
async function attemptOf(provider: BackendProvider): Promise<Attempt | undefined> {
  const { backend, attempts } = await selectBackend([provider, good]);
  expect(backend.isInitialized).toBe(true);
  await backend.dispose();
  expect(attempts.find(({ outcome }) => outcome === 'selected')?.provider).toBe('good');
  expect(
    formatAttempts(attempts)
      .split('\n')
      .every(({ length }) => length <= 80),
  ).toBe(true);
  return attempts.find(({ provider: name }) => name === 'bad');
}

describe('a probe that gives garbage is an attempt with a reason', () => {
  it.each([
    [undefined, 'probe gave undefined'],
    ['yes', 'probe gave "yes"'],
    [{}, 'probe gave available undefined'],
    [{ available: 1, devices: [device] }, 'probe gave available 1'],
    [{ available: true }, 'probe gave devices undefined'],
    [{ available: true, devices: [null] }, 'probe gave a device whose vendor is undefined'],
    [{ available: true, devices: [{ ...device, name: 5n }] }, 'probe gave a device whose name is 5n'],
    [{ available: false }, 'probe gave message undefined'],
    [{ available: false, reason: Symbol('s'), message: 'no', hint: {} }, 'no'],
    [trap, 'a trap'],
  ])('case %#', async (answer, message) => {
    const attempt = await attemptOf(bad({ probe: async () => answer }));
    expect(attempt).toMatchObject({ outcome: 'unavailable', reason: 'failed', message });
    expect(attempt?.hint).toBeUndefined();
  });

  it('so is one that throws whatever', async () => {
    for (const [thrown, message] of [
      [Object.create(null), 'an error without a message'],
      [trap, 'an error without a message'],
      [Symbol('s'), 'Symbol(s)'],
      [undefined, 'undefined'],
    ]) {
      const throws = (): never => {
        throw thrown;
      };
      expect(await attemptOf(bad({ probe: throws }))).toMatchObject({ reason: 'failed', message });
    }
  });
});

describe('contract versions that are no truth', () => {
  it('of the provider', async () => {
    for (const [contractVersion, shown] of [
      ['3', '"3"'],
      [Symbol('3'), 'Symbol(3)'],
      [Object.create(null), 'an object'],
    ]) {
      expect(await attemptOf(bad({ contractVersion }))).toMatchObject({
        reason: 'library-incompatible',
        message: `speaks contract version ${String(shown)}, this registry speaks 3`,
      });
    }
    const throwing = Object.defineProperty(bad({}), 'contractVersion', { get: never });
    expect(await attemptOf(throwing)).toMatchObject({ reason: 'failed', message: 'a trap' });
  });

  it('of the backend, which is disposed', async () => {
    const old = Object.assign(new MemoryBackend(), { contractVersion: 2 });
    expect(await attemptOf(bad({ create: () => old }))).toMatchObject({
      reason: 'library-incompatible',
      message: 'speaks contract version 2, this registry speaks 3',
    });
    await old.lost;
    expect(old.hooks).not.toContain('init');
  });
});

describe('create and init', () => {
  it.each([
    [undefined, 'create() gave undefined'],
    [{}, 'create() gave Object'],
    [() => 0, 'create() gave a function'],
  ])('create gives garbage: case %#', async (made, message) => {
    expect(await attemptOf(bad({ create: () => made }))).toMatchObject({ reason: 'failed', message });
  });

  it('create hangs: the next is taken after 30 s, and what comes later is disposed', async () => {
    vi.useFakeTimers();
    const late = new MemoryBackend();
    const opening = gate();
    const attempt = attemptOf(bad({ create: () => opening.promise.then(() => late) }));
    await vi.advanceTimersByTimeAsync(29_999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await attempt).toMatchObject({ reason: 'failed', message: 'create() did not end within 30 s' });
    opening.open();
    expect(await late.lost).toMatchObject({ reason: 'disposed' });
  });

  it('init hangs: the next is taken after the time that is asked for', async () => {
    vi.useFakeTimers();
    const backend = new MemoryBackend();
    backend.opening = gate();
    const selected = selectBackend([bad({ create: () => backend }), good], { timeoutMs: 1_000 });
    // One second for init, five for dispose, which waits for it.
    await vi.advanceTimersByTimeAsync(6_000);
    const { attempts } = await selected;
    expect(attempts[0]).toMatchObject({ provider: 'bad', message: 'init() did not end within 1 s' });
    expect(attempts[1]).toMatchObject({ provider: 'good', outcome: 'selected' });
    backend.opening.open();
    await vi.advanceTimersByTimeAsync(0);
    expect(backend.hooks).toEqual(['init', 'dispose']);
  });

  it('the self test hangs', async () => {
    vi.useFakeTimers();
    const backend = Object.assign(new MemoryBackend(), { copyDtoh: hang });
    const attempt = attemptOf(bad({ create: () => backend }));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await attempt).toMatchObject({ message: 'the self test did not end within 30 s' });
    expect(backend.hooks).toContain('dispose');
  });

  it('a device that cannot be asked for is no selection', async () => {
    const backend = Object.defineProperty(new MemoryBackend(), 'device', { get: never });
    expect(await attemptOf(bad({ create: () => backend }))).toMatchObject({
      outcome: 'unavailable',
      message: 'a trap',
    });
    expect(backend.hooks).toContain('dispose');
  });

  it.each([
    ['throws', never],
    ['gives no promise', () => undefined],
    ['rejects', () => Promise.reject(new Error('second'))],
  ])('a dispose that %s does not hide why', async (_how, dispose) => {
    const backend = Object.assign(new MemoryBackend(), { dispose });
    backend.failing.set('init', new Error('first'));
    expect(await attemptOf(bad({ create: () => backend }))).toMatchObject({ message: 'first' });
    class Undisposable extends MemoryBackend {
      override dispose(): never {
        throw new Error('second');
      }
      protected override doInit(): never {
        throw new Error('first');
      }
    }
    await expectRejection(Undisposable.create(), 'BACKEND_UNAVAILABLE', 'first');
  });

  it('a dispose that hangs is given up', async () => {
    vi.useFakeTimers();
    const backend = Object.assign(new MemoryBackend(), { dispose: hang });
    backend.failing.set('init', new Error('first'));
    const attempt = attemptOf(bad({ create: () => backend }));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await attempt).toMatchObject({ message: 'first' });
  });

  it.each([-1, Number.NaN, '5', null])('timeoutMs %s is refused', async (timeoutMs) => {
    const refused = selectBackend([good], { timeoutMs: timeoutMs as number });
    const { detail } = await expectRejection(refused, 'INVALID_ARGUMENT');
    expect(detail).toMatch(/^timeoutMs must be a number >= 0, got /);
  });

  it.each([
    [{ timeoutMS: 1 }, 'options has no field timeoutMS; did you mean timeoutMs?'],
    [{ create: { memoryLimitBytes: -1 } }, 'memoryLimitBytes must be a positive safe integer, got -1'],
    [{ create: { memoryLimitByte: 1 } }, 'create has no field memoryLimitByte; did you mean memoryLimitBytes?'],
    [{ create: 5 }, 'options must be an object, got 5'],
    [{ require: [{ op: 'gemm', type: 'f16' }] }, 'require[] has no field type; did you mean dtype?'],
  ])('misspelt options are refused: %j', async (options, detail) => {
    await expectRejection(selectBackend([good], options as object), 'INVALID_ARGUMENT', detail);
  });
});

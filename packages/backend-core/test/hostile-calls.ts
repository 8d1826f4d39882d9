import { type ComputeBackend, isBackendError, OP_NAMES, type OpName } from '@concord/backend-core';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GuardedCall, type Outcome } from './guarded-calls.ts';
import { changed, pathsOf, trueOnce, withGetter, wrongValue } from './hostile-values.ts';

/** Codes of what is the caller's mistake. A DEVICE_ERROR would say that the device has failed. */
const CALLERS: readonly string[] = ['INVALID_ARGUMENT', 'UNSUPPORTED'];

const wrap = (cause: unknown) => () => {
  throw cause;
};

/** The values that a getter may throw. */
const THROWN: readonly unknown[] = [new TypeError('t'), Object.create(null), null, 5n, Symbol('s'), new Proxy({}, {})];

/**
 * Properties of a backend's calls: whatever object a program hands over, each of its parts is read once, the result is
 * that of a plain object or a coded error, and nothing but the outputs changes.
 *
 * @param numRuns - of each property and op
 */
export function describeHostileCalls(open: () => Promise<ComputeBackend>, numRuns: number): void {
  let backend: ComputeBackend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.dispose());

  describe.each(OP_NAMES)('hostile calls of %s', (op) => {
    let guarded: GuardedCall;
    let plain: Outcome;
    beforeAll(async () => {
      guarded = new GuardedCall(backend, op);
      plain = await guarded.make(guarded.call);
    });
    afterAll(() => guarded.free());

    it('the plain call works', () => {
      const isThere = op !== 'gemmF16' || backend.supports('gemmF16').ok;
      if (isThere) expect(plain.error).toBeUndefined();
      else expect(plain.error).toMatchObject({ code: 'UNSUPPORTED' });
    });

    it('parts that lie when they are read again are not', async () => {
      const property = fc.asyncProperty(wrongValue, async (lie) => {
        const outcome = await guarded.make(trueOnce(guarded.call, lie));
        expect(textOf(outcome)).toBe(textOf(plain));
      });
      await fc.assert(property, { numRuns });
    });

    it('a wrong value of a getter is what the plain value would be', async () => {
      const places = fc.constantFrom(...pathsOf(guarded.call));
      const property = fc.asyncProperty(places, wrongValue, async (path, wrong) => {
        const value = wrong();
        const want = await guarded.make(changed(guarded.call, path, value));
        expectCoded(want.error);
        const got = await guarded.make(
          trueOnce(
            withGetter(guarded.call, path, () => value),
            () => Number.NaN,
          ),
        );
        // The value may be one that lies by itself, or is read in vain before another mistake is found.
        if (typeof value === 'object' && value !== null) expectCoded(got.error);
        else expect(textOf(got)).toBe(textOf(want));
        expectSupports(backend, op, changed(guarded.call, path, value));
      });
      await fc.assert(property, { numRuns });
    });

    it('a getter that throws is a mistake of the caller', async () => {
      const places = fc.constantFrom(...pathsOf(guarded.call));
      const property = fc.asyncProperty(places, fc.constantFrom(...THROWN), async (path, thrown) => {
        const call = withGetter(guarded.call, path, wrap(thrown));
        const { error } = await guarded.make(call);
        expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' });
        expectSupports(backend, op, call);
      });
      await fc.assert(property, { numRuns });
    });

    it('what is no call is refused', async () => {
      const property = fc.asyncProperty(wrongValue, async (wrong) => {
        const value = wrong();
        const { error } = await guarded.make(value);
        expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' });
        if (value !== undefined) expectSupports(backend, op, value);
        await expect(backend.prepare([{ op, call: value } as never])).rejects.toMatchObject({
          code: 'INVALID_ARGUMENT',
        });
      });
      await fc.assert(property, { numRuns });
    });

    it('objects without a prototype are calls as others are', async () => {
      const bare = Object.assign(Object.create(null) as object, guarded.call);
      expect(textOf(await guarded.make(bare))).toBe(textOf(plain));
    });
  });
}

function expectCoded(error: unknown): void {
  if (error === undefined) return;
  if (!isBackendError(error) || !CALLERS.includes(error.code)) throw new Error('no coded error', { cause: error });
}

function expectSupports(backend: ComputeBackend, op: OpName, shape: unknown): void {
  expect(typeof backend.supports(op, shape as never).ok).toBe('boolean');
}

function textOf({ error, outputs }: Outcome): string {
  expectCoded(error);
  return isBackendError(error) ? `${error.code}: ${error.detail}` : outputs;
}

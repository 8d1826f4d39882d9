import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { annotate, BackendError, ERROR_CODES, isBackendError, toBackendError } from './backend-error.ts';
import { describe as show } from '../contract/checks.ts';
import { type DevicePtr, NULL_PTR, offsetPtr } from '../contract/device-ptr.ts';
import { expectInvalid } from '../../test/expect-error.ts';

describe('BackendError', () => {
  it('has the prefix of its code', () => {
    const messages = ERROR_CODES.flatMap((code) => [
      new BackendError(code).message,
      new BackendError(code, 'x').message,
    ]);
    expect(messages).toEqual([
      'backend not initialized',
      'backend not initialized: x',
      'invalid argument',
      'invalid argument: x',
      'unsupported operation',
      'unsupported operation: x',
      'out of device memory',
      'out of device memory: x',
      'device error',
      'device error: x',
      'device lost',
      'device lost: x',
      'backend disposed',
      'backend disposed: x',
      'backend unavailable',
      'backend unavailable: x',
    ]);
  });

  it('has the fields it is given and no others', () => {
    const cause = new Error('below');
    const fields = { backend: 'b', op: 'gemm', hint: 'h', status: 7, requestedBytes: 1, inUseBytes: 2, limitBytes: 3 };
    const error = new BackendError('DEVICE_ERROR', 'd', { ...fields, cause, reason: undefined });
    expect(error).toMatchObject({ ...fields, cause, code: 'DEVICE_ERROR', detail: 'd', name: 'BackendError' });
    expect(error).toBeInstanceOf(Error);
    expect('reason' in error).toBe(false);
    expect('cause' in new BackendError('DEVICE_ERROR')).toBe(false);
    expect(Object.getOwnPropertySymbols(Object.assign({}, error))).toEqual([]);
    expect(inspect(error)).not.toContain('concord.BackendError');
  });
});

describe('isBackendError', () => {
  it('knows errors of another copy of this package', async () => {
    vi.resetModules();
    const copy = await import('./backend-error.ts');
    expect(copy.BackendError).not.toBe(BackendError);
    const error: unknown = new copy.BackendError('DISPOSED');
    expect(error instanceof BackendError).toBe(false);
    expect(isBackendError(error)).toBe(true);
    expect(isBackendError(error, 'DISPOSED')).toBe(true);
    expect(isBackendError(error, 'DEVICE_LOST')).toBe(false);
    expect(copy.isBackendError(new BackendError('DISPOSED'), 'DISPOSED')).toBe(true);
  });

  it('tells the compiler the code', () => {
    const error: unknown = new BackendError('OUT_OF_MEMORY', 'x', { requestedBytes: 5 });
    if (!isBackendError(error, 'OUT_OF_MEMORY')) throw new Error('not recognised');
    const code: 'OUT_OF_MEMORY' = error.code;
    expect(code).toBe('OUT_OF_MEMORY');
  });

  it('knows nothing else', () => {
    const lookalike = Object.assign(new Error('x'), { code: 'DISPOSED', detail: '', name: 'BackendError' });
    for (const value of [lookalike, null, undefined, 'DISPOSED', 5, {}, () => 0]) {
      expect(isBackendError(value)).toBe(false);
    }
  });
});

describe('toBackendError and annotate', () => {
  it('wrap what is not one, with it as the cause', () => {
    const own = new BackendError('DISPOSED');
    expect(toBackendError(own, 'DEVICE_ERROR')).toBe(own);
    const cause = new TypeError('t');
    expect(toBackendError(cause, 'DEVICE_ERROR', { op: 'x' })).toMatchObject({ detail: 't', cause, op: 'x' });
    expect(toBackendError('text', 'DEVICE_LOST')).toMatchObject({ code: 'DEVICE_LOST', detail: 'text', cause: 'text' });
  });

  it('take whatever may be thrown', () => {
    const throwing = (): never => {
      throw new Error('trap');
    };
    const proxy: object = new Proxy({}, { get: throwing, has: throwing, getPrototypeOf: throwing });
    const unreadable = Object.defineProperty(new Error('x'), 'message', { get: throwing });
    const odd = Object.assign(new Error('x'), { message: 5 });
    for (const thrown of [Object.create(null), proxy, unreadable, odd, { toString: () => 5 }]) {
      const error = toBackendError(thrown, 'DEVICE_ERROR');
      expect(error.code).toBe('DEVICE_ERROR');
      expect(error.cause).toBe(thrown);
      expect(isBackendError(thrown)).toBe(false);
    }
    expect(toBackendError(Symbol('s'), 'DEVICE_ERROR').detail).toBe('Symbol(s)');
    expect(annotate(Object.freeze(new BackendError('DISPOSED')), { op: 'gemm' }).op).toBeUndefined();
  });

  it('add where an error comes from, but do not contradict it', () => {
    const error = annotate(new BackendError('DEVICE_ERROR', 'x', { op: 'gemm' }), { backend: 'b', op: 'alloc' });
    expect(error).toMatchObject({ op: 'gemm', backend: 'b' });
  });
});

describe('values in messages', () => {
  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [-0, '0'],
    [1e21, '1e+21'],
    [5n, '5n'],
    ['a"b', String.raw`"a\"b"`],
    ['x'.repeat(50), `"${'x'.repeat(40)}..."`],
    [Symbol('s'), 'Symbol(s)'],
    [true, 'true'],
    [() => 0, 'a function'],
    [{}, 'Object'],
    [new Map(), 'Map'],
    [Object.create(null), 'an object'],
    [[1, 'a', [2], null], '[1, "a", an array, null]'],
    [[Object.create(null)], '[an object]'],
    [[1, 2, 3, 4, 5, 6, 7, 8, 9], '[1, 2, 3, 4, 5, 6, 7, 8, ...]'],
    [{ constructor: { name: Object.create(null) } }, 'an object'],
    [Proxy.revocable({}, {}), 'Object'],
  ])('case %#', (value, shown) => {
    expect(show(value)).toBe(shown);
  });
});

it('values that throw whatever is asked of them are objects in messages', () => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  expect(show(proxy)).toBe('an object');
  expect(show([proxy])).toBe('an object');
});

describe('offsetPtr', () => {
  const ptr = (value: unknown) => value as DevicePtr;

  it('adds bytes', () => {
    expect(offsetPtr(ptr(4096), 8)).toBe(4104);
    expect(offsetPtr(ptr(4096), -4096)).toBe(NULL_PTR);
  });

  it.each([
    [4096, 0.5],
    [4096, Number.NaN],
    [4096, -4097],
    [4096, Number.MAX_SAFE_INTEGER],
    [Number.NaN, 1],
    [4096, '8'],
    [4096n, 8],
    [4096, 8n],
    [Symbol('p'), 8],
    [4096, Object.create(null)],
    [{ valueOf: (): number => 4096 }, 8],
  ])('case %# is refused', (base, bytes) => {
    const detail = `cannot offset pointer ${show(base)} by ${show(bytes)} bytes`;
    expectInvalid(() => offsetPtr(ptr(base), bytes as number), detail);
  });
});

import { isBackendError } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import * as ops from '../../src/index.ts';
import { rightCalls } from '../support/calls.ts';

const backend = new CpuBackend();
const other = new CpuBackend();
// Of print.
vi.spyOn(console, 'log').mockImplementation(() => undefined);
// Of pageCache.
vi.stubGlobal('caches', { open: () => Promise.resolve({}) });
beforeAll(() => Promise.all([backend.init(), other.init()]));
afterAll(() => Promise.all([backend.dispose(), other.dispose()]));

type Function = (...args: readonly unknown[]) => unknown;
const FUNCTIONS = Object.entries(ops).filter(([name]) => /^[a-z]/.test(name)) as [string, Function][];
const mine = new Error('of the program');

/** What a program passes by mistake. */
function mistakes(): Readonly<Record<string, unknown>> {
  const disposed = ops.zeros(backend, [2, 2]);
  disposed.dispose();
  return {
    undefined: undefined,
    null: null,
    'an object': {},
    'a list': [],
    'a list of null': [null],
    'a list of lists of undefined': [[undefined]],
    'an empty text': '',
    'a text': 'axis',
    NaN: NaN,
    Infinity: Infinity,
    'a fraction': -0.5,
    true: true,
    'a big integer': 1n,
    'a symbol': Symbol('mine'),
    'a function': () => undefined,
    'no prototype': Object.create(null),
    'a disposed tensor': disposed,
    'a tensor': ops.zeros(backend, [2, 2]),
    "another backend's tensor": ops.zeros(other, [2, 2]),
    'an unknown option': { epsilonn: 1 },
    'a proxy that throws': new Proxy({}, { get: thrower, ownKeys: thrower, has: thrower, getPrototypeOf: thrower }),
  };
}

function thrower(): never {
  throw mine;
}

/** The error of a call, if it has any, also of the promise that it returns; what it made is disposed. */
async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    let result: unknown;
    ops.tidy(() => {
      result = call();
    });
    result = await result;
    // A recording. Tensors, some of which are operands, are left to tidy.
    if (!(result instanceof ops.Tensor)) (result as Partial<Disposable> | undefined)?.[Symbol.dispose]?.();
    return undefined;
  } catch (error) {
    return error;
  }
}

function check(error: unknown, shown: string): void {
  if (error === undefined || error === mine) return;
  if (!isBackendError(error)) {
    const { stack } = error as Error;
    expect.fail(`${shown}: ${String(stack).split('\n').slice(0, 4).join('\n')}`);
  }
  expect(['INVALID_ARGUMENT', 'UNSUPPORTED', 'OUT_OF_MEMORY'], `${shown}: ${error.message}`).toContain(error.code);
}

let calls: ReturnType<typeof rightCalls>;
let wrong: ReturnType<typeof mistakes>;
beforeAll(() => {
  calls = rightCalls(backend);
  wrong = mistakes();
});

test.each(FUNCTIONS)('%s throws coded errors only, whatever it is given, and leaks nothing', async (name, own) => {
  const { args, options, all = {} } = calls[name] as (typeof calls)[string];
  const before = ops.memory();
  expect(await errorOf(() => own(...args)), `${name}, a right call`).toBeUndefined();
  for (const [what, mistake] of Object.entries(wrong)) {
    for (const place of args.keys()) {
      const given = args.map((each, index) => (index === place ? mistake : each));
      check(await errorOf(() => own(...given)), `${name}, argument ${place}: ${what}`);
    }
    if (options === undefined) continue;
    const given = Array.from({ length: options }, (_, place) => args[place]);
    check(await errorOf(() => own(...given, mistake)), `${name}, options: ${what}`);
    for (const option of Object.keys(all)) {
      const changed = { ...(args[options] as object | undefined), [option]: mistake };
      check(await errorOf(() => own(...given, changed)), `${name}, ${option}: ${what}`);
    }
  }
  if (options !== undefined) {
    const given = Array.from({ length: options }, (_, place) => args[place]);
    expect(await errorOf(() => own(...given, all)), `${name}, every option`).toBeUndefined();
    for (const what of ['an unknown option', 'a tensor', 'null', 'NaN', 'a list']) {
      const options = what === 'an unknown option' ? { ...all, epsilonn: 1 } : wrong[what];
      const error = await errorOf(() => own(...given, options));
      expect(isBackendError(error, 'INVALID_ARGUMENT'), `${name}: ${what} as options, ${String(error)}`).toBe(true);
    }
  }
  const { tensors, bytes } = ops.memory();
  expect([tensors - before.tensors, bytes - before.bytes]).toEqual([0, 0]);
});

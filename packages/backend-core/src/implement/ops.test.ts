import { describe, expect, it } from 'vitest';
import { expectError, expectInvalid } from '../../test/expect-error.ts';
import { MemoryBackend } from '../../test/memory-backend.ts';
import type { CheckedOp } from './checked-op.ts';
import { type ComputeBackend, type DevicePtr, NULL_PTR, offsetPtr, type OpName } from '../index.ts';

/** A valid call of each op without its pointers, and its pointers' names. */
const CALLS: Record<OpName, { shape: object; pointers: string[]; output: string }> = {
  gemm: { shape: { m: 2, n: 2, k: 2 }, pointers: ['a', 'b', 'c'], output: 'c' },
  batchedGemm: {
    shape: { m: 2, n: 2, k: 2, strideA: 4, strideB: 4, strideC: 4, batchCount: 2 },
    pointers: ['a', 'b', 'c'],
    output: 'c',
  },
  gemmF16: { shape: { m: 2, n: 2, k: 2 }, pointers: ['a', 'b', 'c'], output: 'c' },
  conv2dForward: {
    shape: {
      inputShape: [1, 1, 2, 2],
      filterShape: [2, 1, 1, 1],
      outputShape: [1, 2, 2, 2],
      stride: [1, 1],
      padding: [0, 0],
    },
    pointers: ['input', 'filter', 'output'],
    output: 'output',
  },
  attention: {
    shape: { batch: 1, heads: 1, seqQ: 2, seqKv: 2, headDim: 2, scale: 1 },
    pointers: ['q', 'k', 'v', 'o'],
    output: 'o',
  },
  reduce: { shape: { op: 'sum', shape: [2, 2], axis: 0 }, pointers: ['input', 'output'], output: 'output' },
  unary: { shape: { op: 'neg', n: 4 }, pointers: ['input', 'output'], output: 'output' },
  binary: { shape: { op: 'add', n: 4 }, pointers: ['a', 'b', 'output'], output: 'output' },
};
const OPS = Object.keys(CALLS) as OpName[];
const HOOK: Partial<Record<OpName, string>> = { batchedGemm: 'gemm', gemmF16: 'gemm', conv2dForward: 'conv2d' };

type AnyOp = (call: unknown) => void;
const run = (backend: ComputeBackend, op: OpName, call: unknown): void => (backend[op] as AnyOp).call(backend, call);

/** Every operand in an allocation of its own, and a call with those. */
function prepared(backend: MemoryBackend, op: OpName): Record<string, unknown> {
  const { shape, pointers } = CALLS[op];
  return { ...shape, ...Object.fromEntries(pointers.map((name) => [name, backend.alloc(256)])) };
}

describe.each(OPS)('%s', (op) => {
  const { shape, pointers, output } = CALLS[op];
  const align = op === 'gemmF16' ? 2 : 4;

  it('hands its operands to the hook', async () => {
    const backend = await MemoryBackend.open();
    run(backend, op, prepared(backend, op));
    expect(backend.hooks.at(-1)).toBe(HOOK[op] ?? op);
    const call = backend.calls.at(-1) as Record<string, { byteOffset: number; byteLength: number }>;
    for (const name of pointers) {
      expect(call[name]).toMatchObject({ buffer: expect.any(Uint8Array), byteOffset: 0 });
      expect(call[name]?.byteLength).toBeGreaterThan(0);
    }
  });

  it.each([undefined, null, 5, 'call'])('takes an object, not %s', async (call) => {
    const backend = await MemoryBackend.open();
    const shown = typeof call === 'string' ? '"call"' : String(call);
    const error = expectInvalid(() => run(backend, op, call), `${op} takes one object, got ${shown}`);
    expect(error).toMatchObject({ op, backend: 'memory' });
  });

  it.each(pointers)('%s: type, alignment, liveness, extent', async (name) => {
    const backend = await MemoryBackend.open();
    const call = prepared(backend, op);
    const ptr = call[name] as DevicePtr;
    for (const [value, shown] of [
      [undefined, 'undefined'],
      [-4, '-4'],
      [Number.NaN, 'NaN'],
      ['8', '"8"'],
      [2 ** 53, '9007199254740992'],
    ] as const) {
      expectInvalid(() => run(backend, op, { ...call, [name]: value }), `${name} must be a DevicePtr, got ${shown}`);
    }
    expectInvalid(
      () => run(backend, op, { ...call, [name]: ptr + 1 }),
      `${name} must be aligned to ${align} bytes, got address ${ptr + 1}`,
    );
    if (align === 4)
      expect(expectInvalid(() => run(backend, op, { ...call, [name]: ptr + 2 })).detail).toMatch('aligned');
    expectInvalid(() => run(backend, op, { ...call, [name]: NULL_PTR }), 'unknown handle 0');
    const end = backend.alloc(8);
    const inside = offsetPtr(end, 8 - align);
    expect(expectInvalid(() => run(backend, op, { ...call, [name]: inside })).detail).toMatch(
      new RegExp(`^${name} is out of bounds: \\d+ bytes at offset ${8 - align} of its allocation of 8 bytes$`),
    );
    backend.free(end);
    expectInvalid(() => run(backend, op, { ...call, [name]: end }), `unknown handle ${end}`);
    expect(backend.hooks.filter((hook) => hook !== 'alloc' && hook !== 'free')).toEqual([]);
  });

  it('the output overlaps no input', async () => {
    const backend = await MemoryBackend.open();
    const call = prepared(backend, op);
    for (const name of pointers.filter((pointer) => pointer !== output)) {
      const shifted = offsetPtr(call[name] as DevicePtr, align);
      expectInvalid(() => run(backend, op, { ...call, [output]: shifted }), `${output} overlaps ${name}`);
      const inPlace = () => run(backend, op, { ...call, [output]: call[name] });
      if (op === 'unary' || op === 'binary') inPlace();
      else expectInvalid(inPlace, `${output} overlaps ${name}`);
    }
  });

  it('inputs may overlap each other', async () => {
    const backend = await MemoryBackend.open();
    const call = prepared(backend, op);
    for (const name of pointers) if (name !== output) call[name] = call[pointers[0] as string];
    run(backend, op, call);
    expect(backend.hooks.at(-1)).toBe(HOOK[op] ?? op);
  });

  it('checks types, then the rules, then alignment, then liveness, then overlap', async () => {
    const backend = await MemoryBackend.open();
    const nulls = Object.fromEntries(pointers.map((name) => [name, 0]));
    expectInvalid(
      () => run(backend, op, { ...shape, ...nulls, dtype: 'f64' }),
      'dtype must be one of f32, f16, got "f64"',
    );
    const [first, last] = [pointers[0] as string, pointers.at(-1) as string];
    expect(expectInvalid(() => run(backend, op, { ...shape, ...nulls, [last]: 1 })).detail).toMatch(
      /^\w+ must be aligned/,
    );
    const ptr = backend.alloc(256);
    expectInvalid(() => run(backend, op, { ...shape, ...nulls, [first]: ptr }), 'unknown handle 0');
  });

  it('is UNSUPPORTED where the backend lacks the op', async () => {
    const backend = await MemoryBackend.open({ ops: OPS.filter((other) => other !== op) });
    const error = expectError(() => run(backend, op, prepared(backend, op)), 'UNSUPPORTED', `${op} is not implemented`);
    expect(error).toMatchObject({ op, backend: 'memory', message: `unsupported operation: ${op} is not implemented` });
    expect(backend.supports(op)).toEqual({ ok: false, reason: `memory does not implement ${op}` });
  });

  it('is UNSUPPORTED for a dtype that the backend lacks, before pointers are looked at', async () => {
    const backend = await MemoryBackend.open({ f16: false });
    if (op === 'gemmF16') return;
    const nulls = Object.fromEntries(pointers.map((name) => [name, 0]));
    expectError(
      () => run(backend, op, { ...shape, ...nulls, dtype: 'f16' }),
      'UNSUPPORTED',
      `${op} does not take dtype f16 on memory`,
    );
  });

  it('is UNSUPPORTED for what the implementer refuses', async () => {
    const backend = await MemoryBackend.open();
    backend.refusals.set((HOOK[op] ?? op) as CheckedOp['hook'], 'too odd');
    expectError(() => run(backend, op, prepared(backend, op)), 'UNSUPPORTED', 'too odd');
  });

  it('turns whatever the hook throws into a BackendError', async () => {
    const backend = await MemoryBackend.open();
    const cause = new Error('status 7');
    backend.failing.set(HOOK[op] ?? op, cause);
    const error = expectError(() => run(backend, op, prepared(backend, op)), 'DEVICE_ERROR', 'status 7');
    expect(error).toMatchObject({ op, backend: 'memory', cause });
  });
});

describe('no-ops', () => {
  const nothing: Array<[OpName, object]> = [
    ...(['m', 'n', 'k'] as const).flatMap((size): Array<[OpName, object]> => [
      ['gemm', { [size]: 0 }],
      ['batchedGemm', { [size]: 0 }],
      ['gemmF16', { [size]: 0 }],
    ]),
    ['batchedGemm', { batchCount: 0 }],
    ['unary', { n: 0 }],
    ['binary', { n: 0 }],
    ['reduce', { shape: [0, 4] }],
    ['reduce', { shape: [4, 0] }],
    ['attention', { batch: 0 }],
    ['attention', { heads: 0 }],
    ['conv2dForward', { inputShape: [0, 1, 2, 2] }],
    ['conv2dForward', { inputShape: [1, 0, 2, 2] }],
  ];

  it.each(nothing)('%s %j with null pointers', async (op, sizes) => {
    const backend = await MemoryBackend.open();
    const nulls = Object.fromEntries(CALLS[op].pointers.map((name) => [name, 0]));
    run(backend, op, { ...CALLS[op].shape, ...sizes, ...nulls });
    expect(backend.hooks).toEqual([]);
  });
});

describe('gemm without a product', () => {
  it.each([{ k: 0 }, { alpha: 0 }])('%j scales C', async (sizes) => {
    const backend = await MemoryBackend.open();
    const call = { ...prepared(backend, 'gemm'), ...sizes };
    run(backend, 'gemm', call);
    expect(backend.hooks.at(-1)).toBe('scale');
    expect(backend.calls.at(-1)).toMatchObject({ m: 2, n: 2, beta: 0, ldc: 2, batchCount: 1, dtype: 'f32' });
    const calls = backend.hooks.length;
    run(backend, 'gemm', { ...call, beta: 1 });
    expect(backend.hooks).toHaveLength(calls);
  });

  it('k 0 does not look at a and b', async () => {
    const backend = await MemoryBackend.open();
    run(backend, 'gemm', { ...prepared(backend, 'gemm'), k: 0, a: 1, b: 0 });
    expect(backend.hooks.at(-1)).toBe('scale');
  });

  it('looks at alpha after rounding to float32', async () => {
    const backend = await MemoryBackend.open();
    run(backend, 'gemm', { ...prepared(backend, 'gemm'), alpha: 1e-60 });
    expect(backend.hooks.at(-1)).toBe('scale');
  });
});

describe('limits', () => {
  it('headDim', async () => {
    const backend = await MemoryBackend.open();
    const call = { ...prepared(backend, 'attention'), headDim: 257 };
    expectError(() => run(backend, 'attention', call), 'UNSUPPORTED', "headDim 257 exceeds this device's limit of 256");
  });

  it('operands of one allocation may lie side by side, in any order', async () => {
    const backend = await MemoryBackend.open();
    const first = backend.alloc(48);
    const [second, third] = [offsetPtr(first, 16), offsetPtr(first, 32)];
    for (const [a, b, output] of [
      [first, second, third],
      [third, first, second],
      [second, third, first],
    ] as const) {
      backend.binary({ op: 'add', n: 4, a, b, output });
      expect(backend.calls.at(-1)).toMatchObject({
        a: { byteOffset: a - first, byteLength: 16 },
        b: { byteOffset: b - first, byteLength: 16 },
        output: { byteOffset: output - first, byteLength: 16 },
      });
    }
  });
});

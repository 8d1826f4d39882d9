import { describe, expect, it } from 'vitest';
import { expectError, expectInvalid } from '../../test/expect-error.ts';
import { MemoryBackend } from '../../test/memory-backend.ts';
import { type ComputeBackend, type DevicePtr, NULL_PTR, offsetPtr } from '../index.ts';
import { defineKernel } from '../kernel/index.ts';
import { type DefinedOp, OPS as DEFINITIONS } from './index.ts';

/** A valid call of each op without its pointers. */
const SHAPES: Record<DefinedOp, object> = {
  gemm: { m: 2, n: 2, k: 2 },
  batchedGemm: { m: 2, n: 2, k: 2, strideA: 4, strideB: 4, strideC: 4, batchCount: 2 },
  gemmF16: { m: 2, n: 2, k: 2 },
  conv2dForward: { inputShape: [1, 1, 2, 2], filterShape: [2, 1, 1, 1], outputShape: [1, 2, 2, 2] },
  attention: { batch: 1, heads: 1, seqQ: 2, seqKv: 2, headDim: 2, scale: 1 },
  topK: { rows: 2, columns: 3, k: 2 },
  reduce: { op: 'sum', shape: [2, 2], axis: 0 },
  unary: { op: 'neg', n: 4 },
  binary: { op: 'add', n: 4 },
};
const OPS = Object.keys(SHAPES) as DefinedOp[];
/** Those that are a `run` of their own kernel. */
const DERIVED: readonly DefinedOp[] = ['reduce', 'unary', 'binary'];

type AnyOp = (call: unknown) => void;
const run = (backend: ComputeBackend, op: DefinedOp, call: unknown): void => (backend[op] as AnyOp).call(backend, call);

/** Every operand in its own allocation, and a call with those. */
function prepared(backend: MemoryBackend, op: DefinedOp): Record<string, unknown> {
  return { ...SHAPES[op], ...Object.fromEntries(DEFINITIONS[op].operands.map((name) => [name, backend.alloc(256)])) };
}

describe.each(OPS)('%s', (op) => {
  const shape = SHAPES[op];
  const { kernel, operands: pointers, output } = DEFINITIONS[op];
  const align = op === 'gemmF16' ? 2 : 4;

  it('hands its operands to the kernel', async () => {
    const backend = await MemoryBackend.open();
    run(backend, op, prepared(backend, op));
    expect(backend.hooks.at(-1)).toBe(kernel);
    const call = backend.calls.at(-1) as Record<string, unknown>;
    const operands = DERIVED.includes(op)
      ? [...(call['inputs'] as unknown[]), ...(call['outputs'] as unknown[])]
      : pointers.map((name) => call[name]);
    if (!DERIVED.includes(op)) expect(call['opName']).toBe(op);
    expect(operands).toHaveLength(pointers.length);
    for (const operand of operands) {
      expect(operand).toMatchObject({ buffer: expect.any(Uint8Array), byteOffset: 0 });
      expect((operand as { byteLength: number }).byteLength).toBeGreaterThan(0);
    }
  });

  it('refuses a field that it does not have', async () => {
    const backend = await MemoryBackend.open();
    const call = prepared(backend, op);
    const { detail } = expectInvalid(() => run(backend, op, { ...call, [`${output}x`]: 1 }));
    expect(detail).toMatch(new RegExp(`^${op} has no field ${output}x; (did you mean|it has) `));
    run(backend, op, { ...call, other: undefined });
    expect(backend.hooks.at(-1)).toBe(kernel);
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
    if (align === 4) expectInvalid(() => run(backend, op, { ...call, [name]: ptr + 2 }), /aligned/);
    expectInvalid(() => run(backend, op, { ...call, [name]: NULL_PTR }), 'unknown handle 0');
    const end = backend.alloc(8);
    const inside = offsetPtr(end, 8 - align);
    expectInvalid(
      () => run(backend, op, { ...call, [name]: inside }),
      new RegExp(`^${name} is out of bounds: \\d+ bytes at offset ${8 - align} of its allocation of 8 bytes$`),
    );
    backend.free(end);
    expectInvalid(() => run(backend, op, { ...call, [name]: end }), `unknown handle ${end}, already freed`);
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
      // Its two outputs are as far apart.
      else if (op === 'topK' && name === 'indices') expectInvalid(inPlace, 'values overlaps indices');
      else expectInvalid(inPlace, `${output} overlaps ${name}`);
    }
  });

  it('inputs may overlap each other', async () => {
    const backend = await MemoryBackend.open();
    const call = prepared(backend, op);
    const inputs = pointers.filter((name) => name !== output && name !== 'indices');
    for (const name of inputs) call[name] = call[inputs[0] as string];
    run(backend, op, call);
    expect(backend.hooks.at(-1)).toBe(kernel);
  });

  it('checks types, then the rules, then alignment, then liveness, then overlap', async () => {
    const backend = await MemoryBackend.open();
    const nulls = Object.fromEntries(pointers.map((name) => [name, 0]));
    expectInvalid(
      () => run(backend, op, { ...shape, ...nulls, dtype: 'f64' }),
      /^dtype must be one of f32, f16(, bf16)?, got "f64"$/,
    );
    const [first, last] = [pointers[0] as string, pointers.at(-1) as string];
    expectInvalid(() => run(backend, op, { ...shape, ...nulls, [last]: 1 }), /^\w+ must be aligned/);
    const ptr = backend.alloc(256);
    expectInvalid(() => run(backend, op, { ...shape, ...nulls, [first]: ptr }), 'unknown handle 0');
  });

  it('is UNSUPPORTED where the backend lacks the kernel', async () => {
    const has = (['gemm', 'conv2dForward', 'attention', 'topK', 'run'] as const).filter((name) => name !== kernel);
    const backend = await MemoryBackend.open({ has });
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
    backend.refusals.set(kernel, 'too odd');
    expectError(() => run(backend, op, prepared(backend, op)), 'UNSUPPORTED', 'too odd');
  });

  it('turns whatever the kernel throws into a BackendError', async () => {
    const backend = await MemoryBackend.open();
    const cause = new Error('status 7');
    backend.failing.set(kernel, cause);
    const error = expectError(() => run(backend, op, prepared(backend, op)), 'DEVICE_ERROR', 'status 7');
    expect(error).toMatchObject({ op, backend: 'memory', cause });
  });
});

describe('no-ops', () => {
  const nothing: Array<[DefinedOp, object]> = [
    ...(['m', 'n', 'k'] as const).flatMap((size): Array<[DefinedOp, object]> => [
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
    ['topK', { rows: 0 }],
    ['topK', { k: 0 }],
    ['conv2dForward', { inputShape: [0, 1, 2, 2] }],
    ['conv2dForward', { inputShape: [1, 0, 2, 2] }],
  ];

  it.each(nothing)('%s %j with null pointers', async (op, sizes) => {
    const backend = await MemoryBackend.open();
    const nulls = Object.fromEntries(DEFINITIONS[op].operands.map((name) => [name, 0]));
    run(backend, op, { ...SHAPES[op], ...sizes, ...nulls });
    expect(backend.hooks).toEqual([]);
  });

  const add = defineKernel('add', { inputs: { acc: 'f32', bias: 'f32' }, params: { low: 'f32' } }, (s, k) => ({
    c: k.max(k.add(s.acc, s.bias), s.low),
  }));
  const params = { low: 0 };
  const epilogues: Array<[string, unknown]> = [
    ['epilogue must be { kernel, inputs?, params? }, got 42', 42],
    ['a kernel must be an object, got undefined', {}],
    ['epilogue.inputs must be an object, got 5', { kernel: add, inputs: 5, params }],
    ['strides of input bias must be an array of integers, got 1', { kernel: add, inputs: { bias: { strides: 1 } } }],
    ['dtype of input bias must be one of f32, f16, bf16, got "i8"', { kernel: add, inputs: { bias: { dtype: 'i8' } } }],
    ['epilogue.bias must be a DevicePtr, got undefined', { kernel: add, params }],
    ['epilogue.params must be given', { kernel: add, inputs: { bias: 0 } }],
    ['params.low must be a number, got "0"', { kernel: add, inputs: { bias: 0 }, params: { low: '0' } }],
  ];
  const products = nothing.filter(([op]) => 'epilogue' in DEFINITIONS[op].fields);
  it.each(epilogues)('but not with wrong types: %s', async (detail, epilogue) => {
    const backend = await MemoryBackend.open();
    for (const [op, sizes] of products) {
      const nulls = Object.fromEntries(DEFINITIONS[op].operands.map((name) => [name, 0]));
      expectInvalid(() => run(backend, op, { ...SHAPES[op], ...sizes, ...nulls, epilogue }), detail);
      run(backend, op, {
        ...SHAPES[op],
        ...sizes,
        ...nulls,
        epilogue: { kernel: add, inputs: { bias: { ptr: 0, strides: [7] } }, params },
      });
    }
    expect(backend.hooks).toEqual([]);
  });

  it('but not with a mask without a pointer', async () => {
    const backend = await MemoryBackend.open();
    const call = { ...SHAPES.attention, batch: 0, q: 0, k: 0, v: 0, o: 0 };
    expectInvalid(() => run(backend, 'attention', { ...call, mask: {} }), 'mask must be a DevicePtr, got undefined');
    run(backend, 'attention', { ...call, mask: { ptr: 0 } });
    expect(backend.hooks).toEqual([]);
  });
});

describe('limits', () => {
  it('headDim', async () => {
    const backend = await MemoryBackend.open();
    const call = { ...prepared(backend, 'attention'), headDim: 257 };
    expectError(() => run(backend, 'attention', call), 'UNSUPPORTED', "headDim 257 exceeds this device's limit of 256");
  });

  it('k of topK', async () => {
    const backend = await MemoryBackend.open();
    const call = { ...prepared(backend, 'topK'), rows: 1, columns: 300 };
    expectError(
      () => run(backend, 'topK', { ...call, k: 257 }),
      'UNSUPPORTED',
      "k 257 exceeds this device's limit of 256",
    );
  });

  it('operands that no allocation holds, before the backend is asked', async () => {
    const backend = await MemoryBackend.open({ maxAllocationBytes: 2 ** 20 });
    let asked = 0;
    const count = (): undefined => void asked++;
    for (const name of ['gemm', 'run'] as const) backend.refusals.set(name, count);
    const call = { ...prepared(backend, 'gemm'), m: 1, n: 1, k: 2 ** 18 + 1 };
    const reason = "a of gemm spans 1048580 bytes, this device's largest allocation is 1048576";
    expectError(() => run(backend, 'gemm', call), 'UNSUPPORTED', reason);
    expect(backend.supports('gemm', { m: 1, n: 1, k: 2 ** 18 + 1 })).toEqual({ ok: false, reason });
    await expect(backend.prepare([{ op: 'gemm', call: { m: 1, n: 1, k: 2 ** 40 } }])).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    });
    expect(backend.supports('unary', { op: 'neg', n: 2 ** 40 }).ok).toBe(false);
    expect(asked).toBe(0);
    expect(backend.supports('gemm', { m: 1, n: 1, k: 2 ** 18 })).toEqual({ ok: true });
    expect(asked).toBe(1);
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
        inputs: [
          { byteOffset: a - first, byteLength: 16 },
          { byteOffset: b - first, byteLength: 16 },
        ],
        outputs: [{ byteOffset: output - first, byteLength: 16 }],
      });
    }
  });
});

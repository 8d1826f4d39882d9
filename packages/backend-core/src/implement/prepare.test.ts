import { describe, expect, it, vi } from 'vitest';
import { expectRejection } from '../../test/expect-error.ts';
import { gate, MemoryBackend } from '../../test/memory-backend.ts';
import type { OpPlan } from '../index.ts';
import { unaryKernel } from '../kernel/index.ts';

const PLANS: OpPlan[] = [
  { op: 'unary', call: { op: 'exp', n: 4 } },
  { op: 'gemm', call: { m: 0, n: 1, k: 1 } },
  { op: 'gemm', call: { m: 1, n: 2, k: 3, dtype: 'f16' } },
];

describe('supports', () => {
  it('an op, with or without a shape', async () => {
    const backend = await MemoryBackend.open({ f16: false });
    expect(backend.supports('gemm')).toEqual({ ok: true });
    expect(backend.supports('gemm', {})).toEqual({ ok: true });
    expect(backend.supports('gemm', { dtype: 'f32' })).toEqual({ ok: true });
    expect(backend.supports('gemm', { m: 1, n: 2, k: 3 })).toEqual({ ok: true });
    const no = { ok: false, reason: 'gemm does not take dtype f16 on memory' };
    expect(backend.supports('gemm', { dtype: 'f16' })).toEqual(no);
    expect(backend.supports('gemm', { m: 1, n: 2, k: 3, dtype: 'f16' })).toEqual(no);
    expect(backend.supports('attention', { batch: 1, heads: 1, seqQ: 1, seqKv: 1, headDim: 257, scale: 1 })).toEqual({
      ok: false,
      reason: "headDim 257 exceeds this device's limit of 256",
    });
    backend.refusals.set('gemm', 'not today');
    expect(backend.supports('gemm', { m: 1, n: 2, k: 3 })).toEqual({ ok: false, reason: 'not today' });
    expect(backend.hooks).toEqual([]);
  });

  it('never throws for a bad op or shape', async () => {
    const backend = await MemoryBackend.open();
    expect(backend.supports('fft' as never)).toEqual({ ok: false, reason: 'memory does not implement fft' });
    expect(backend.supports('gemm', null as never)).toEqual({ ok: false, reason: 'gemm takes one object, got null' });
    expect(backend.supports('gemm', 5 as never)).toEqual({ ok: false, reason: 'gemm takes one object, got 5' });
    expect(backend.supports('gemm', { m: -1, n: 1, k: 1 })).toEqual({
      ok: false,
      reason: 'm must be a non-negative safe integer, got -1',
    });
    expect(backend.supports('reduce', { op: 'sum', shape: Object.create(null) as never, axis: 0 })).toEqual({
      ok: false,
      reason: 'shape must be an array of integers, got an object',
    });
  });
});

describe('prepare', () => {
  it('compiles each plan that has work, and tells how far it is', async () => {
    const backend = await MemoryBackend.open();
    const onProgress = vi.fn();
    await backend.prepare(PLANS, { onProgress });
    expect(backend.calls).toEqual([
      ['run', expect.objectContaining({ kernel: unaryKernel('exp'), shape: [4] })],
      ['gemm', expect.objectContaining({ m: 1, n: 2, k: 3, dtype: 'f16', alpha: 1, lda: 3 })],
    ]);
    expect(onProgress.mock.calls).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
    await backend.prepare([]);
  });

  it('checks all before it compiles one', async () => {
    const backend = await MemoryBackend.open();
    const bad = (plan: unknown) => backend.prepare([...PLANS, plan as OpPlan]);
    const shape = await expectRejection(bad({ op: 'unary', call: { op: 'exp', n: -1 } }), 'INVALID_ARGUMENT');
    expect(shape).toMatchObject({ op: 'unary', detail: 'n must be a non-negative safe integer, got -1' });
    await expectRejection(bad({ op: 'unary', call: null }), 'INVALID_ARGUMENT', 'unary takes one object, got null');
    await expectRejection(
      bad({ op: 'attention', call: { batch: 1, heads: 1, seqQ: 1, seqKv: 1, headDim: 512, scale: 1 } }),
      'UNSUPPORTED',
    );
    await expectRejection(
      bad({ op: 'fft', call: {} }),
      'INVALID_ARGUMENT',
      'plans[3].op must be one of gemm, batchedGemm, gemmF16, conv2dForward, attention, topK, run, reduce, unary, binary, got "fft"',
    );
    await expectRejection(bad(null), 'INVALID_ARGUMENT', 'plans[3] must be { op, call }, got null');
    await expectRejection(
      backend.prepare('gemm' as never),
      'INVALID_ARGUMENT',
      'prepare takes an array of plans, got "gemm"',
    );
    expect(backend.hooks).toEqual([]);
  });

  it('stops when aborted, during a compile too', async () => {
    const backend = await MemoryBackend.open();
    await expect(backend.prepare(PLANS, { signal: AbortSignal.abort('no') })).rejects.toBe('no');
    expect(backend.hooks).toEqual([]);
    backend.compiling = gate();
    const controller = new AbortController();
    const prepared = backend.prepare(PLANS, { signal: controller.signal });
    controller.abort('enough');
    await expect(prepared).rejects.toBe('enough');
    expect(backend.hooks).toEqual(['prepare']);
    const wrong = backend.prepare(PLANS, { signal: {} as never });
    await expectRejection(wrong, 'INVALID_ARGUMENT', 'signal must be an AbortSignal, got Object');
  });

  it('ends with dispose or loss during a compile', async () => {
    const backend = await MemoryBackend.open();
    backend.compiling = gate();
    const prepared = backend.prepare(PLANS);
    await backend.dispose();
    await expectRejection(prepared, 'DISPOSED');
    const lost = await MemoryBackend.open();
    lost.compiling = gate();
    const other = lost.prepare(PLANS);
    lost.lose('gone');
    await expectRejection(other, 'DEVICE_LOST', 'gone');
  });

  it('reports a failed compile with its op', async () => {
    const backend = await MemoryBackend.open();
    backend.failing.set('prepare', new Error('syntax error'));
    const error = await expectRejection(backend.prepare(PLANS), 'DEVICE_ERROR', 'syntax error');
    expect(error).toMatchObject({ op: 'unary', backend: 'memory' });
    await backend.prepare(PLANS);
  });
});

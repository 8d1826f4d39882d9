import { describe, expect, it } from 'vitest';
import { expectError } from '../../test/expect-error.ts';
import { MemoryBackend, type MemoryBackendOptions } from '../../test/memory-backend.ts';
import { type DevicePtr, type GemmCall, offsetPtr } from '../index.ts';
import { defineKernel, type ResolvedRun } from '../kernel/index.ts';
import type { ResolvedGemm } from './index.ts';

const bias = defineKernel(
  'bias',
  { inputs: { acc: 'f32', bias: 'f32' }, params: { low: 'f32' } },
  ({ acc, bias: added, low }, k) => ({ c: k.max(k.add(acc, added), low) }),
);

async function opened(options: MemoryBackendOptions = {}) {
  const backend = await MemoryBackend.open(options);
  const [a, b, c, extra] = [0, 1, 2, 3].map(() => backend.alloc(256)) as [DevicePtr, DevicePtr, DevicePtr, DevicePtr];
  const base: GemmCall = { m: 2, n: 3, k: 4, a, b, c };
  const epilogue = { kernel: bias, inputs: { bias: { ptr: extra, strides: [0, 0, 1] } }, params: { low: 0.1 } };
  const ran = (): { hook: string; call: unknown }[] =>
    backend.hooks.flatMap((hook, i) => (hook === 'gemm' || hook === 'run' ? { hook, call: backend.calls[i] } : []));
  return { backend, base, epilogue, ran, extra };
}

/** The calls that a kernel got. */
function callOf<Call>(step: { readonly call: unknown } | undefined): Call {
  if (step === undefined) throw new Error('no kernel ran');
  return step.call as Call;
}

/** The address of an operand, as the allocation it is in and the place there. */
const placeOf = (backend: MemoryBackend, ptr: DevicePtr) => {
  const { buffer, byteOffset } = backend.operand(ptr);
  return { buffer, byteOffset };
};

describe('a product with k = 0 or alpha = 0', () => {
  it.each([{ k: 0 }, { alpha: 0 }, { alpha: 1e-60 }])('%j is a run that scales C in place', async (sizes) => {
    const { backend, base, ran } = await opened();
    backend.gemm({ ...base, ...sizes, ldc: 5, beta: 0.1 });
    const [step, ...more] = ran();
    expect(more).toEqual([]);
    expect(step?.hook).toBe('run');
    const place = placeOf(backend, base.c);
    expect(step?.call).toMatchObject({
      geometry: { kernel: { name: 'scale' }, shape: [1, 2, 3], outputs: [{ strides: [0, 5, 1], extent: 8 }] },
      inputs: [place],
      outputs: [place],
      params: [Math.fround(0.1)],
      inPlace: [true],
    });
  });

  it('beta 0 does not read C, beta 1 does nothing', async () => {
    const { backend, base, ran } = await opened();
    backend.gemm({ ...base, k: 0, beta: 1 });
    expect(ran()).toEqual([]);
    backend.gemm({ ...base, k: 0 });
    expect(ran()).toMatchObject([{ call: { inputs: [], params: [], inPlace: [false] } }]);
  });

  it('k 0 does not look at a and b, alpha 0 does', async () => {
    const { backend, base, ran } = await opened();
    backend.gemm({ ...base, k: 0, a: 1 as DevicePtr, b: 0 as DevicePtr });
    expect(ran()).toHaveLength(1);
    expectError(() => backend.gemm({ ...base, alpha: 0, a: 0 as DevicePtr }), 'INVALID_ARGUMENT', 'unknown handle 0');
  });

  it('is none that a backend without products takes, though it has the run: `supports` and the call agree', async () => {
    const { backend, base } = await opened({ has: ['run'] });
    expect(backend.capabilities.ops).not.toContain('gemm');
    for (const shape of [{ k: 0 }, { alpha: 0 }, {}]) {
      const { m, n, k, alpha } = { ...base, ...shape };
      expect(backend.supports('gemm', { m, n, k, ...(alpha === undefined ? {} : { alpha }) }).ok).toBe(false);
      expectError(() => backend.gemm({ ...base, ...shape }), 'UNSUPPORTED');
    }
  });

  it('scales every C of a batch, in the dtype of C', async () => {
    const { backend, base, ran } = await opened();
    backend.batchedGemm({ ...base, k: 0, beta: 2, dtype: 'f16', strideA: 0, strideB: 0, strideC: 6, batchCount: 4 });
    expect(ran()).toMatchObject([
      { call: { geometry: { shape: [4, 2, 3], outputs: [{ dtype: 'f16', strides: [6, 3, 1] }] }, params: [2] } },
    ]);
  });

  it.each<[string, MemoryBackendOptions]>([
    ['has no run', { has: ['gemm'] }],
    ['runs other kernels only', { covers: 'some' }],
  ])('is a product without terms on a backend that %s', async (_, options) => {
    const { backend, base, ran } = await opened(options);
    backend.refusals.set('run', ({ kernel }: { kernel: { name: string } }) =>
      kernel.name === 'scale' ? 'no scale here' : undefined,
    );
    backend.gemm({ ...base, alpha: Number.NaN, k: 0, beta: 2 });
    expect(ran()).toMatchObject([{ hook: 'gemm', call: { k: 0, alpha: 0, beta: 2 } }]);
  });

  it('is a product without terms where run does not take that dtype', async () => {
    const { backend, base, epilogue, ran } = await opened({ runDtypes: ['f32'], hasEpilogues: true });
    const call = { ...base, k: 0, dtype: 'f16' as const, beta: 2 };
    backend.gemm(call);
    backend.gemm({ ...call, epilogue });
    backend.gemm({ ...call, dtype: 'f32' });
    expect(ran()).toMatchObject([
      { hook: 'gemm', call: { k: 0, alpha: 0, beta: 2, dtype: 'f16', epilogue: undefined } },
      { hook: 'gemm', call: { k: 0, alpha: 0, beta: 2, dtype: 'f16', epilogue: { kernel: { name: 'bias' } } } },
      { hook: 'run' },
    ]);
    expect(backend.supports('gemm', { m: 2, n: 3, k: 0, dtype: 'f16' })).toEqual({ ok: true });
  });

  it('is a product without terms where C is larger than a run may be', async () => {
    const { backend } = await opened({ maxAllocationBytes: 2 ** 40 });
    const large = { m: 2 ** 32, n: 1, k: 0, beta: 2 };
    expect(backend.supports('gemm', large)).toEqual({ ok: true });
    await backend.prepare([{ op: 'gemm', call: large }]);
    expect(backend.calls.at(-1)).toMatchObject(['gemm', { m: 2 ** 32, k: 0, alpha: 0 }]);
    const withBias = { ...large, epilogue: { kernel: bias, inputs: { bias: { strides: [0, 0, 1] } } } };
    const reason = 'm with an epilogue must be below 2^32, got 4294967296';
    expect(backend.supports('gemm', withBias)).toEqual({ ok: false, reason });
    await expect(backend.prepare([{ op: 'gemm', call: withBias }])).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      detail: reason,
    });
  });

  it('is UNSUPPORTED where run takes all kernels but not that size', async () => {
    const { backend, base } = await opened();
    backend.refusals.set('run', 'too long');
    expectError(() => backend.gemm({ ...base, k: 0 }), 'UNSUPPORTED', 'too long');
  });
});

describe('an epilogue', () => {
  it('is a run in place after the product', async () => {
    const { backend, base, epilogue, ran, extra } = await opened();
    backend.gemm({ ...base, alpha: 3, beta: 2, epilogue });
    const [product, after] = ran();
    expect(product).toMatchObject({ hook: 'gemm', call: { alpha: 3, beta: 2, epilogue: undefined } });
    const { operands } = callOf<ResolvedGemm<Uint8Array>>(product);
    expect(operands.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    const place = placeOf(backend, base.c);
    expect(after).toMatchObject({
      hook: 'run',
      call: {
        geometry: { kernel: { name: 'bias' }, shape: [1, 2, 3] },
        inputs: [place, placeOf(backend, extra)],
        outputs: [place],
        params: [Math.fround(0.1)],
        inPlace: [true],
      },
    });
    expect(ran()).toHaveLength(2);
  });

  it('is the kernel’s own affair where it has them', async () => {
    const { backend, base, epilogue, ran, extra } = await opened({ hasEpilogues: true });
    backend.gemm({ ...base, dtype: 'f16', epilogue });
    expect(ran()).toHaveLength(1);
    const call = callOf<ResolvedGemm<Uint8Array> & Record<string, unknown>>(ran()[0]);
    expect(call.epilogue).toMatchObject({ kernel: { name: 'bias' }, params: [Math.fround(0.1)] });
    expect(call['epilogue.bias']).toMatchObject(placeOf(backend, extra));
    expect(call['epilogue.bias']).toMatchObject({ byteLength: 12 });
  });

  it.each([{ k: 0 }, { alpha: 0 }])('of %j is one run with the scaling', async (sizes) => {
    const { backend, base, epilogue, ran, extra } = await opened();
    backend.gemm({ ...base, ...sizes, beta: 2, dtype: 'f16', epilogue });
    const place = placeOf(backend, base.c);
    expect(ran()).toMatchObject([
      {
        hook: 'run',
        call: { inputs: [place, placeOf(backend, extra)], outputs: [place], params: [Math.fround(0.1), 2] },
      },
    ]);
    backend.gemm({ ...base, ...sizes, epilogue });
    const { geometry, inputs, params } = callOf<ResolvedRun<Uint8Array>>(ran()[1]);
    expect(geometry.inputs).toMatchObject([{ name: 'bias', strides: [0, 0, 1] }]);
    expect(inputs).toHaveLength(1);
    expect(params).toEqual([Math.fround(0.1)]);
  });

  it('of f16 is UNSUPPORTED where it is a separate run: two roundings', async () => {
    const { backend, base, epilogue, ran } = await opened();
    const refused = () => backend.gemm({ ...base, dtype: 'f16', epilogue });
    expectError(refused, 'UNSUPPORTED', 'gemm does not take f16 with an epilogue on memory');
    expect(ran()).toEqual([]);
  });

  it.each([{}, { k: 0 }])('%j needs run where the kernel has none', async (sizes) => {
    const { backend, base, epilogue, ran } = await opened({ has: ['gemm'] });
    const refused = () => backend.gemm({ ...base, ...sizes, epilogue });
    expectError(refused, 'UNSUPPORTED', 'gemm with an epilogue needs run, which memory does not have');
    expect(ran()).toEqual([]);
  });

  it('is of every C of a batch and of a convolution', async () => {
    const { backend, base, epilogue, ran, extra } = await opened();
    const batch = { strideA: 0, strideB: 0, strideC: 3, ldc: 6, batchCount: 2 };
    backend.batchedGemm({ ...base, ...batch, epilogue });
    expect(ran()[1]).toMatchObject({ call: { geometry: { shape: [2, 2, 3], outputs: [{ strides: [3, 6, 1] }] } } });
    backend.conv2dForward({
      inputShape: [1, 1, 2, 2],
      filterShape: [2, 1, 1, 1],
      outputShape: [1, 2, 2, 2],
      input: base.a,
      filter: base.b,
      output: base.c,
      epilogue: { ...epilogue, inputs: { bias: { ptr: extra, strides: [0, 1, 0, 0] } } },
    });
    expect(ran().at(-1)).toMatchObject({
      call: { geometry: { shape: [1, 2, 2, 2], inputs: [{ strides: [0, 4, 2, 1] }, { extent: 2 }] } },
    });
  });

  it('is prepared with the product, and supports asks about both', async () => {
    const { backend } = await opened();
    const call = { m: 2, n: 3, k: 4, epilogue: { kernel: bias, inputs: { bias: { strides: [0, 0, 1] } } } };
    await backend.prepare([{ op: 'gemm', call }]);
    expect(backend.calls.slice(-2)).toMatchObject([
      ['gemm', { m: 2 }],
      ['run', { kernel: { name: 'bias' } }],
    ]);
    backend.refusals.set('run', 'not today');
    expect(backend.supports('gemm', call)).toEqual({ ok: false, reason: 'not today' });
  });

  it('reads what lies apart from C, inside its allocation, and has its parameters', async () => {
    const { backend, base, epilogue } = await opened();
    const refused = (change: object, detail: string) =>
      expectError(() => backend.gemm({ ...base, epilogue: { ...epilogue, ...change } }), 'INVALID_ARGUMENT', detail);
    refused({ inputs: { bias: offsetPtr(base.c, 20) } }, 'c overlaps epilogue.bias');
    refused({ inputs: { bias: 0 } }, 'unknown handle 0');
    refused({ inputs: {} }, 'epilogue.bias must be a DevicePtr, got undefined');
    refused(
      { inputs: { bias: offsetPtr(base.a, 2) } },
      `epilogue.bias must be aligned to 4 bytes, got address ${base.a + 2}`,
    );
    refused({ params: undefined }, 'epilogue.params must be given');
    refused({ params: {} }, 'params.low must be a number, got undefined');
  });
});

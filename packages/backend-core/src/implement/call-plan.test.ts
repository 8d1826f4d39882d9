import { describe, expect, it } from 'vitest';
import { expectError, expectInvalid } from '../../test/expect-error.ts';
import { MemoryBackend } from '../../test/memory-backend.ts';
import { defineKernel } from '../kernel/index.ts';
import { type DevicePtr, type GemmCall, offsetPtr } from '../index.ts';
import { type CheckedGemm, type DefinedOp, type Launch, OPS } from './index.ts';

/** Notes what it is to launch. */
class PlannedBackend extends MemoryBackend {
  readonly launches: Launch<Uint8Array>[] = [];

  protected override doLaunch(launch: Launch<Uint8Array>): void {
    this.launches.push(launch);
  }
}

async function opened() {
  const backend = new PlannedBackend({ hasEpilogues: true });
  await backend.init();
  const [a, b, c, d] = [0, 1, 2, 3].map(() => backend.alloc(4096)) as [DevicePtr, DevicePtr, DevicePtr, DevicePtr];
  const planOf = (queue: () => void): object => {
    queue();
    return (backend.launches.at(-1) as Launch<Uint8Array>).call;
  };
  return { backend, a, b, c, d, planOf };
}

const scale = () =>
  defineKernel('scale', { inputs: { acc: 'f32', by: 'f32' }, params: { f: 'f32' } }, ({ acc, by, f }, k) => ({
    y: k.mul(k.mul(acc, by), f),
  }));

describe('calls of an op have one plan', () => {
  it('where they differ in nothing but addresses and parameters', async () => {
    const { backend, a, b, c, d, planOf } = await opened();
    const kernel = scale();
    const shape = { m: 4, n: 4, k: 4 };
    const gemm = (from: DevicePtr, f: number) =>
      planOf(() => backend.gemm({ ...shape, a: from, b, c, epilogue: { kernel, inputs: { by: d }, params: { f } } }));
    expect(gemm(a, 1)).toBe(gemm(offsetPtr(a, 64), 2));
    expect(backend.launches.map(({ params }) => params)).toEqual([
      [1, 1, 0],
      [2, 1, 0],
    ]);
    expect(backend.launches.map(({ operands }) => operands.map(({ byteOffset }) => byteOffset))).toEqual([
      [0, 0, 0, 0],
      [64, 0, 0, 0],
    ]);
    const attention = (q: DevicePtr, ptr: DevicePtr) => {
      const sizes = { batch: 1, heads: 2, seqQ: 3, seqKv: 4, headDim: 8, scale: 1 };
      return planOf(() => backend.attention({ ...sizes, q, k: b, v: b, o: c, mask: { ptr, strides: [0, 0, 4, 1] } }));
    };
    expect(attention(a, d)).toBe(attention(offsetPtr(a, 256), a));
    const run = (x: DevicePtr) =>
      planOf(() => backend.run(kernel, { shape: [8], inputs: { acc: x, by: b }, outputs: { y: c }, params: { f: 3 } }));
    expect(run(a)).toBe(run(d));
  });

  it('whatever their factors are, or the scale of scores, but for the classes of their own', async () => {
    const { backend, a, b, c, planOf } = await opened();
    const gemm = (change: object) => planOf(() => backend.gemm({ m: 4, n: 4, k: 4, a, b, c, ...change }));
    const factors = [2, -2, 0.1, NaN, Infinity, -1e300];
    expect(new Set(factors.map((alpha) => gemm({ alpha, beta: 3 }))).size).toBe(1);
    expect(backend.launches.map(({ params }) => params)).toEqual(factors.map((each) => [Math.fround(each), 3]));
    const classes = [{ beta: 2 }, { beta: 0 }, { beta: 1 }, { alpha: 2 }, { alpha: 2, beta: 1 }, { alpha: 2, beta: 2 }];
    expect(new Set(classes.map(gemm)).size).toBe(classes.length);
    // float32 makes 0 of it.
    expect(gemm({ alpha: 2, beta: 1e-60 })).not.toBe(gemm({ alpha: 2, beta: 2 }));
    expectInvalid(() => gemm({ alpha: '2' }), 'alpha must be a number, got "2"');

    const sizes = { batch: 1, heads: 2, seqQ: 3, seqKv: 4, headDim: 8, q: a, k: b, v: b, o: c };
    const attention = (scale: number, softcap?: number) =>
      planOf(() => backend.attention({ ...sizes, scale, ...(softcap === undefined ? {} : { softcap }) }));
    expect(attention(2)).toBe(attention(0.125));
    expect(attention(2, 5)).toBe(attention(3, 7));
    expect(attention(2, 5)).not.toBe(attention(2));
    expectInvalid(() => attention(-1), 'scale must be a positive finite number, got -1');
    expectInvalid(() => attention(1, 0), 'softcap must be a positive finite number, got 0');
    const planned = backend.plan('gemm', { m: 4, n: 4, k: 4, alpha: 5, beta: 6 });
    planned.launch([a, b, c]);
    expect(backend.launches.at(-1)).toMatchObject({ params: [5, 6] });
  });

  it('and others where any field differs, in whatever it differs', async () => {
    const { backend, a, b, c, d, planOf } = await opened();
    const gemm = { m: 4, n: 4, k: 4, a, b, c };
    const [one, other] = [scale(), scale()];
    const epilogue = { kernel: one, inputs: { by: d }, params: { f: 1 } };
    const changes: readonly object[] = [
      {},
      ...[{ m: 3 }, { n: 3 }, { k: 3 }, { transA: 'T' }, { transB: 'T' }, { alpha: 2 }, { alpha: -0 }, { beta: 1 }],
      ...[
        { lda: 5 },
        { ldb: 5 },
        { ldc: 5 },
        { dtype: 'f16' },
        { epilogue },
        { epilogue: { ...epilogue, kernel: other } },
      ],
      { epilogue: { ...epilogue, inputs: { by: { ptr: d, strides: [0, 0, 1] } } } },
      { epilogue: { ...epilogue, inputs: { by: { ptr: d, strides: [0, 1, 0] } } } },
      { epilogue: { ...epilogue, inputs: { by: { ptr: d, strides: [0, 0, 1], dtype: 'f16' } } } },
    ];
    const plans = changes.map((change) => planOf(() => backend.gemm({ ...gemm, ...change })));
    expect(new Set(plans).size).toBe(changes.length);
    expect(changes.map((change) => planOf(() => backend.gemm({ ...gemm, ...change })))).toEqual(plans);
    const sizes = { batch: 1, heads: 2, seqQ: 3, seqKv: 4, headDim: 8, scale: 1, q: a, k: b, v: b, o: c };
    const masked = (strides: readonly number[]) => ({ mask: { ptr: d, strides } });
    const packed = [48, 24, 8];
    const more: readonly object[] = [
      {},
      ...[{ causal: true }, { causal: true, causalOffset: 1 }, { window: 2 }, { softcap: 1 }, { mask: { ptr: d } }],
      ...[masked([0, 0, 4, 1]), masked([0, 12, 4, 1]), { strides: { q: packed } }, { strides: { o: packed } }],
      { strides: { q: packed, k: [64, 32, 8] } },
    ];
    const own = more.map((change) => planOf(() => backend.attention({ ...sizes, ...change })));
    expect(new Set(own).size).toBe(more.length);
  });

  it('whose rules refuse what a good call before it does not have', async () => {
    const { backend, a, b, c, d } = await opened();
    const kernel = scale();
    const call = { m: 4, n: 4, k: 4, a, b, c };
    const good = { ...call, epilogue: { kernel, inputs: { by: d }, params: { f: 1 } } };
    backend.gemm(good);
    const refuse = (change: object, detail: string) =>
      expectInvalid(() => backend.gemm({ ...good, ...change }), detail);
    refuse({ epilogue: { kernel, inputs: { by: d } } }, 'epilogue.params must be given');
    refuse({ epilogue: { kernel, params: { f: 1 } } }, 'epilogue.by must be a DevicePtr, got undefined');
    refuse({ ldaa: 4 }, 'gemm has no field ldaa; did you mean lda?');
    refuse({ a: undefined }, 'a must be a DevicePtr, got undefined');
    refuse({ a: offsetPtr(a, 2) }, `a must be aligned to 4 bytes, got address ${a + 2}`);
    refuse({ c: a }, 'c overlaps a');
    refuse({ a: offsetPtr(a, 4036) }, 'a is out of bounds: 64 bytes at offset 4036 of its allocation of 4096 bytes');
    backend.free(d);
    refuse({}, `unknown handle ${d}, already freed`);
    expect(backend.launches).toHaveLength(1);
  });
});

describe('a mistake of the caller comes before what the backend does not take', () => {
  const refusing = async () => {
    const backend = await MemoryBackend.open();
    for (const name of ['gemm', 'attention', 'run'] as const) backend.refusals.set(name, 'not today');
    const [a, b, c, d] = [0, 1, 2, 3].map(() => backend.alloc(4096)) as [DevicePtr, DevicePtr, DevicePtr, DevicePtr];
    return { backend, a, b, c, d };
  };

  it('an epilogue, a mask, a run without what they need', async () => {
    const { backend, a, b, c, d } = await refusing();
    const kernel = scale();
    const gemm = { m: 4, n: 4, k: 4, a, b, c };
    const attention = { batch: 1, heads: 2, seqQ: 3, seqKv: 4, headDim: 8, scale: 1, q: a, k: b, v: b, o: c };
    const run = { shape: [4], inputs: { acc: a, by: b }, outputs: { y: c } };
    const calls: readonly (readonly [string, () => void])[] = [
      [
        'epilogue.by must be a DevicePtr, got undefined',
        () => backend.gemm({ ...gemm, epilogue: { kernel, params: { f: 1 } } }),
      ],
      ['epilogue.params must be given', () => backend.gemmF16({ ...gemm, epilogue: { kernel, inputs: { by: d } } })],
      [
        'mask must be a DevicePtr, got undefined',
        () => backend.attention({ ...attention, mask: { strides: [0, 0, 4, 1] } as never }),
      ],
      ['kernel scale: params must be given', () => backend.run(kernel, run as never)],
    ];
    for (const [detail, call] of calls) expectInvalid(call, detail);
    const good = { kernel, inputs: { by: d }, params: { f: 1 } };
    expectError(() => backend.gemm({ ...gemm, epilogue: good }), 'UNSUPPORTED', 'not today');
  });

  it('and a name that is misspelt is said to be', async () => {
    const { backend, a, b, c, d } = await refusing();
    const kernel = scale();
    const gemm = { m: 4, n: 4, k: 4, a, b, c };
    const epilogue = { kernel, inputs: { by: d }, params: { ff: 1 } };
    const run = { shape: [4], inputs: { acc: a, by: b }, outputs: { y: c }, params: { fo: 1 } };
    expectInvalid(() => backend.gemm({ ...gemm, epilogue }), 'params has no field ff; did you mean f?');
    expectInvalid(() => backend.run(kernel, run as never), 'kernel scale: params has no field fo; did you mean f?');
    expectInvalid(
      () => backend.gemm({ ...gemm, epilogue: { kernal: kernel } as never }),
      'epilogue has no field kernal; did you mean kernel?',
    );
  });
});

describe('a getter of a call', () => {
  const cases = ['m', 'a', 'epilogue'] as const;
  /** The call, with something done whenever a field of it is read. */
  const onRead = (call: GemmCall, field: (typeof cases)[number], act: () => void): GemmCall =>
    Object.defineProperty({ ...call }, field, {
      enumerable: true,
      get() {
        act();
        return call[field];
      },
    });

  it.each(cases)('of %s that calls the same op leaves both calls whole', async (field) => {
    const { backend, a, b, c } = await opened();
    const call = { m: 4, n: 4, k: 4, a, b, c, epilogue: undefined } as unknown as GemmCall;
    const inner = { ...call, m: 2, a: offsetPtr(a, 128) };
    const outer = onRead(call, field, () => backend.gemm(inner));
    for (let round = 0; round < 2; round++) backend.gemm(outer);
    const seen = backend.launches.map(({ call: own, operands }) => [(own as CheckedGemm).m, operands[0]?.byteOffset]);
    expect(seen).toEqual([2, 4, 2, 4].map((m) => [m, m === 2 ? 128 : 0]));
  });

  it.each(cases)('of %s that frees an operand gets the error of freed memory', async (field) => {
    const { backend, a, b, c } = await opened();
    const call = { m: 4, n: 4, k: 4, a, b, c, epilogue: undefined } as unknown as GemmCall;
    backend.gemm(call);
    const freeing = onRead(call, field, () => backend.free(b));
    expectInvalid(() => backend.gemm(freeing), `unknown handle ${b}, already freed`);
    expect(backend.launches).toHaveLength(1);
  });

  it.each(cases)('of %s that disposes gets DISPOSED, and nothing is launched', async (field) => {
    const { backend, a, b, c } = await opened();
    const call = { m: 4, n: 4, k: 4, a, b, c, epilogue: undefined } as unknown as GemmCall;
    backend.gemm(call);
    const disposing = onRead(call, field, () => void backend.dispose());
    expectError(() => backend.gemm(disposing), 'DISPOSED');
    expect(backend.launches).toHaveLength(1);
  });
});

it('each op reads its fields in the order in which it declares them', () => {
  for (const op of Object.keys(OPS) as DefinedOp[]) {
    const { fields, operands } = OPS[op];
    const names = [...Object.keys(fields), ...operands];
    expect(OPS[op].read(Object.fromEntries(names.map((name) => [name, name]))), op).toEqual(names);
  }
});

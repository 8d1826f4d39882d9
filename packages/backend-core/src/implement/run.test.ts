import { describe, expect, it } from 'vitest';
import { expectError, expectInvalid } from '../../test/expect-error.ts';
import { MemoryBackend } from '../../test/memory-backend.ts';
import { type DevicePtr, offsetPtr } from '../index.ts';
import { type CheckedRun, defineKernel, type Kernel, type ResolvedRun, type RunCall } from '../kernel/index.ts';

type Resolved = ResolvedRun<Uint8Array>;

const add = defineKernel('plus', { inputs: { a: 'f32', b: 'f32' } }, ({ a, b }, k) => ({ y: k.add(a, b) }));
const both = defineKernel('both', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.neg(x), z: k.exp(x) }));
const rows = defineKernel('rows', { inputs: { x: 'f32', w: { type: 'f32', level: 'row' } } }, ({ x, w }, k) => ({
  y: k.mul(x, k.add(w, k.fold('sum', x))),
  total: k.fold('max', x),
}));
const look = defineKernel(
  'look',
  { inputs: { t: { type: 'f32', access: 'gather', rank: 1 } }, params: { otherwise: 'f32' } },
  ({ t, otherwise }, k) => ({ y: k.gather(t, [k.index(0)], otherwise) }),
);

async function opened(options = {}) {
  const backend = await MemoryBackend.open(options);
  const [p, q, r] = [backend.alloc(1024), backend.alloc(1024), backend.alloc(1024)];
  const last = (): Resolved => {
    expect(backend.hooks.at(-1)).toBe('run');
    return backend.calls.at(-1) as Resolved;
  };
  /** As a program without types calls it. */
  const run = (kernel: Kernel, call: object) => backend.run(kernel, call as never);
  /** Expects an error that begins with the name of the kernel. */
  const refused = (kernel: Kernel, call: object, detail: string) =>
    expectInvalid(() => run(kernel, call), `kernel ${kernel.name}: ${detail}`);
  return { backend, p, q, r, last, run, refused };
}

describe('run', () => {
  it('hands geometry, operands and parameters to the kernel', async () => {
    const { backend, p, q, last } = await opened();
    const call: RunCall<{ t: { type: 'f32'; access: 'gather'; rank: 1 } }, { otherwise: 'f32' }, 'y'> = {
      shape: [5],
      inputs: { t: { ptr: offsetPtr(p, 6), shape: [7], dtype: 'f16' } },
      outputs: { y: { ptr: offsetPtr(q, 4), strides: [2] } },
      params: { otherwise: 0.1 },
    };
    backend.run(look, call);
    const resolved = last();
    expect(resolved).toMatchObject({
      geometry: { kernel: { name: 'look' }, shape: [5] },
      inputs: [{ byteOffset: 6, byteLength: 14 }],
      outputs: [{ byteOffset: 4, byteLength: 36 }],
      params: [Math.fround(0.1)],
      inPlace: [false],
    });
    backend.run(look, { ...call, inputs: { t: { ptr: p, shape: [7], dtype: 'f16' } }, params: { otherwise: 2 } });
    expect(last().geometry).toBe(resolved.geometry);
    expect(last().params).toEqual([2]);
  });

  it('takes a kernel as data, and refuses anything else', async () => {
    const { p, q, last, run } = await opened();
    run(JSON.parse(JSON.stringify(both)) as Kernel, {
      shape: [4],
      inputs: { x: p },
      outputs: { y: q, z: offsetPtr(q, 16) },
    });
    expect(last().geometry.kernel).toEqual(both);
    const error = expectInvalid(() => run(5 as never, {}), 'a kernel must be an object, got 5');
    expect(error).toMatchObject({ op: 'run', backend: 'memory' });
  });

  it('says which kernel and operand an error is about', async () => {
    const { backend, p, q, run, refused } = await opened();
    const call = { shape: [4], inputs: { a: p, b: p }, outputs: { y: q } };
    refused(add, 5 as never, 'run takes one object, got 5');
    refused(add, { ...call, shape: [-1] }, 'shape[0] must be a non-negative safe integer, got -1');
    refused(add, { ...call, inputs: { a: p } }, 'inputs.b must be a DevicePtr, got undefined');
    refused(add, { ...call, outputs: {} }, 'outputs.y must be a DevicePtr, got undefined');
    refused(look, { shape: [4], inputs: { t: { ptr: p, shape: [4] } }, outputs: { y: q } }, 'params must be given');
    expectInvalid(
      () => run(rows, { shape: [4], inputs: { x: p, w: p }, outputs: { y: q, total: q } }),
      'kernel rows has values of rows: folded must say how many of the last axes make a row',
    );
    refused(
      add,
      { ...call, inputs: { a: offsetPtr(p, 2), b: p } },
      `inputs.a must be aligned to 4 bytes, got address ${p + 2}`,
    );
    refused(
      add,
      { ...call, outputs: { y: offsetPtr(q, 1012) } },
      'outputs.y is out of bounds: 16 bytes at offset 1012 of its allocation of 1024 bytes',
    );
    const freed = backend.alloc(64);
    backend.free(freed);
    const { detail, hint } = expectInvalid(() => run(add, { ...call, inputs: { a: freed, b: p } }));
    expect(detail).toBe(`kernel plus: unknown handle ${freed}, already freed`);
    expect(hint).toBe('inputs.a: the allocation was freed before');
  });

  it.each([
    ['f16', 2],
    ['bf16', 2],
    ['f32', 4],
  ] as const)('%s is aligned to %d bytes', async (dtype, bytes) => {
    const { p, q, last, run, refused } = await opened();
    const at = (offset: number) => ({
      shape: [2],
      inputs: { a: { ptr: offsetPtr(p, offset), dtype }, b: q },
      outputs: { y: offsetPtr(q, 64) },
    });
    run(add, at(bytes));
    expect(last().inputs[0]).toMatchObject({ byteOffset: bytes, byteLength: 2 * bytes });
    refused(add, at(1), `inputs.a must be aligned to ${bytes} bytes, got address ${p + 1}`);
  });

  it('names the allocation of what is not aligned or overlaps, where it has a label', async () => {
    const { backend, q, refused } = await opened();
    const p = backend.alloc(1024, { label: 'weights' });
    const at = (a: DevicePtr, y: DevicePtr) => ({ shape: [2], inputs: { a, b: q }, outputs: { y } });
    refused(
      add,
      at(offsetPtr(p, 2), q),
      `inputs.a must be aligned to 4 bytes, got address ${p + 2}, in the allocation "weights"`,
    );
    refused(add, at(p, offsetPtr(p, 4)), 'outputs.y overlaps inputs.a, in the allocation "weights"');
    expectInvalid(
      () => backend.gemm({ m: 1, n: 1, k: 2, a: offsetPtr(p, 1), b: q, c: q }),
      `a must be aligned to 4 bytes, got address ${p + 1}, in the allocation "weights"`,
    );
    expectInvalid(
      () => backend.gemm({ m: 1, n: 1, k: 2, a: p, b: q, c: offsetPtr(p, 4) }),
      'c overlaps a, in the allocation "weights"',
    );
    expectInvalid(() => backend.copyDtod(p, offsetPtr(p, 4), 8), 'dst overlaps src, in the allocation "weights"');
  });

  it('does nothing where nothing is stored, and looks at no pointer then', async () => {
    const { backend, run } = await opened();
    const hooks = backend.hooks.length;
    run(add, { shape: [0, 3], inputs: { a: 0, b: 1 }, outputs: { y: 3 } });
    expect(backend.hooks).toHaveLength(hooks);
    expectInvalid(() => run(add, { shape: [0, 3], inputs: { a: 0 }, outputs: { y: 0 } }));
  });

  it('stores rows from identities where a folded size is 0', async () => {
    const { p, q, last, run } = await opened();
    run(rows, { shape: [2, 0], folded: 1, inputs: { x: 0, w: p }, outputs: { y: 0, total: q } });
    expect(last()).toMatchObject({
      geometry: { rowCount: 2, rowLength: 0 },
      inputs: [undefined, { byteLength: 8 }],
      outputs: [undefined, { byteLength: 8 }],
      inPlace: [false, false],
    });
  });
});

describe('overlap in run', () => {
  const four = (ptr: DevicePtr, strides = [1]) => ({ ptr, strides });

  it('an element output may be exactly an element input', async () => {
    const { p, q, last, run } = await opened();
    run(add, { shape: [4], inputs: { a: p, b: q }, outputs: { y: p } });
    expect(last().inPlace).toEqual([true]);
    run(add, { shape: [4], inputs: { a: p, b: p }, outputs: { y: p } });
    expect(last().inPlace).toEqual([true]);
    run(add, { shape: [4], inputs: { a: p, b: p }, outputs: { y: q } });
    expect(last().inPlace).toEqual([false]);
    run(both, { shape: [4], inputs: { x: p }, outputs: { y: q, z: p } });
    expect(last().inPlace).toEqual([false, true]);
    const strided = { shape: [4], inputs: { a: four(p, [2]), b: q }, outputs: { y: four(p, [2]) } };
    run(add, strided);
    expect(last().inPlace).toEqual([true]);
  });

  it('not with another dtype, other strides, another place, or beside another input', async () => {
    const { p, q, refused } = await opened();
    const overlaps = (inputs: object, outputs: object, detail = 'outputs.y overlaps inputs.a') =>
      refused(add, { shape: [4], inputs, outputs }, detail);
    overlaps({ a: { ptr: p, dtype: 'f16' }, b: q }, { y: p });
    overlaps({ a: four(p, [0]), b: q }, { y: p });
    overlaps({ a: four(p, [2]), b: q }, { y: p });
    overlaps({ a: offsetPtr(p, 4), b: q }, { y: p });
    overlaps({ a: p, b: q }, { y: offsetPtr(p, 12) });
    overlaps({ a: p, b: offsetPtr(p, 8) }, { y: p }, 'outputs.y overlaps inputs.b');
  });

  it('never a row, a gather input or another output', async () => {
    const { p, q, r, refused } = await opened();
    const call = { shape: [4, 2], folded: 1, inputs: { x: p, w: q }, outputs: { y: r, total: q } };
    refused(rows, call, 'outputs.total overlaps inputs.w');
    refused(rows, { ...call, outputs: { y: r, total: offsetPtr(r, 28) } }, 'outputs.total overlaps outputs.y');
    refused(
      look,
      { shape: [4], inputs: { t: { ptr: p, shape: [4] } }, outputs: { y: p }, params: { otherwise: 0 } },
      'outputs.y overlaps inputs.t',
    );
    refused(both, { shape: [4], inputs: { x: p }, outputs: { y: q, z: q } }, 'outputs.z overlaps outputs.y');
  });

  it('views that interleave do not overlap', async () => {
    const { p, q, last, run, refused } = await opened();
    const pair = (first: number, second: number, strides: number[]) => ({
      shape: [2, 3],
      inputs: { x: p },
      outputs: {
        y: { ptr: offsetPtr(q, first), strides },
        z: { ptr: offsetPtr(q, second), strides },
      },
    });
    run(both, pair(0, 4, [6, 2]));
    expect(last().inPlace).toEqual([false, false]);
    run(both, pair(4, 0, [6, 2]));
    run(both, pair(0, 12, [6, 1]));
    run(both, pair(0, 24, [3, 1]));
    for (const [second, strides] of [
      [4, [3, 1]],
      [8, [6, 2]],
      [4, [6, 1]],
      [20, [3, 1]],
    ] as const) {
      refused(both, pair(0, second, [...strides]), 'outputs.z overlaps outputs.y');
    }
    run(add, { shape: [4], inputs: { a: four(p, [2]), b: q }, outputs: { y: four(offsetPtr(p, 4), [2]) } });
    expect(last().inPlace).toEqual([false]);
  });
});

describe('what a backend does not take', () => {
  it('a kernel', async () => {
    const { backend, p, q, run } = await opened({ covers: 'some' });
    backend.refusals.set('run', ({ kernel }: CheckedRun) => (kernel.name === 'plus' ? undefined : 'only sums here'));
    const call = { shape: [4], inputs: { x: p }, outputs: { y: q, z: offsetPtr(q, 16) } };
    expectError(() => run(both, call), 'UNSUPPORTED', 'only sums here');
    expect(backend.capabilities.run).toBe('some');
    expect(backend.supports('run', { kernel: both, shape: [4] })).toEqual({ ok: false, reason: 'only sums here' });
    expect(backend.supports('run', { kernel: add, shape: [4] })).toEqual({ ok: true });
  });

  it('a dtype of an operand', async () => {
    const { backend, p, q, run } = await opened({ f16: false });
    const call = { shape: [4], inputs: { a: p, b: { ptr: p, dtype: 'bf16' } }, outputs: { y: q } };
    const reason = 'kernel plus: b needs run to take dtype bf16, which it does not on memory';
    expectError(() => run(add, call), 'UNSUPPORTED', reason);
    const shape = { kernel: add, shape: [4], inputs: { b: { dtype: 'bf16' } } } as const;
    expect(backend.supports('run', shape)).toEqual({ ok: false, reason });
    expect(backend.supports('run', { dtype: 'bf16' })).toEqual({
      ok: false,
      reason: 'run does not take dtype bf16 on memory',
    });
  });

  it('run at all', async () => {
    const { backend, run } = await opened({ has: ['gemm'] });
    const call = { shape: [4], inputs: { a: 0, b: 0 }, outputs: { y: 0 } };
    expectError(() => run(add, call), 'UNSUPPORTED', 'run is not implemented');
    expectError(() => run(add, { ...call, shape: [0] }), 'UNSUPPORTED', 'run is not implemented');
    expect(backend.capabilities.run).toBeUndefined();
    expect(backend.supports('run', { kernel: add, shape: [4] })).toEqual({
      ok: false,
      reason: 'memory does not implement run',
    });
  });
});

describe('prepare and supports of a run', () => {
  it('take its call without pointers and parameters', async () => {
    const { backend } = await opened();
    const call = { kernel: look, shape: [4], inputs: { t: { shape: [9] } } };
    await backend.prepare([
      { op: 'run', call },
      { op: 'run', call: { kernel: add, shape: [0] } },
    ]);
    expect(backend.hooks.filter((hook) => hook === 'prepare')).toHaveLength(1);
    expect(backend.calls.at(-1)).toMatchObject(['run', { kernel: { name: 'look' }, shape: [4] }]);
    expect(backend.supports('run', call)).toEqual({ ok: true });
    expect(backend.supports('run', { kernel: look, shape: [4] })).toEqual({
      ok: false,
      reason: 'kernel look: the shape of input t must be an array of integers, got undefined',
    });
    expect(backend.supports('run', { kernel: 5 as never, shape: [4] })).toEqual({
      ok: false,
      reason: 'a kernel must be an object, got 5',
    });
  });
});

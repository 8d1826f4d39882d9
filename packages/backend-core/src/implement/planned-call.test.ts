import { describe, expect, it } from 'vitest';
import { expectError, expectInvalid } from '../../test/expect-error.ts';
import { MemoryBackend } from '../../test/memory-backend.ts';
import type { ComputeBackend, DevicePtr, GemmCall } from '../index.ts';
import { defineKernel } from '../kernel/index.ts';
import { type Launch, planCall } from './index.ts';

class NotingBackend extends MemoryBackend {
  readonly launches: Launch<Uint8Array>[] = [];

  onLaunch: (() => void) | undefined;

  protected override doLaunch(launch: Launch<Uint8Array>): void {
    this.onLaunch?.();
    this.launches.push(launch);
  }
}

const SHAPE = { m: 2, n: 3, k: 4 };

async function opened() {
  const backend = new NotingBackend({ hasEpilogues: true });
  await backend.init();
  const [a, b, c, d] = [0, 1, 2, 3].map(() => backend.alloc(4096)) as [DevicePtr, DevicePtr, DevicePtr, DevicePtr];
  return { backend, a, b, c, d };
}

const scale = defineKernel(
  'scale',
  { inputs: { by: 'f32', acc: 'f32' }, params: { f: 'f32', n: 'u32' } },
  ({ acc, by, f, n }, k) => ({ y: k.mul(k.mul(k.mul(acc, by), f), k.toF32(n)) }),
);

describe('a planned call', () => {
  it('is the call of its op, with inputs before outputs', async () => {
    const { backend, a, b, c, d } = await opened();
    backend.gemm({ ...SHAPE, a, b, c });
    const plan = backend.plan('gemm', SHAPE);
    expect(plan.operands).toEqual(['a', 'b', 'c']);
    plan.launch([a, b, c]);
    expect(backend.launches[1]).toEqual(backend.launches[0]);
    expect(backend.launches[1]?.call).toBe(backend.launches[0]?.call);
    const sizes = { batch: 1, heads: 1, seqQ: 2, seqKv: 2, headDim: 4, scale: 1 };
    expect(backend.plan('attention', { ...sizes, mask: {} }).operands).toEqual(['q', 'k', 'v', 'mask', 'o']);
    expect(backend.plan('topK', { rows: 2, columns: 4, k: 2 }).operands).toEqual(['input', 'values', 'indices']);
    const fused = backend.plan('gemm', { ...SHAPE, epilogue: { kernel: scale } });
    expect(fused.operands).toEqual(['a', 'b', 'epilogue.by', 'c']);
    fused.launch([a, b, d, c], [0.1, 7]);
    expect(backend.launches[2]?.params).toEqual([Math.fround(0.1), 7, 1, 0]);
    const run = backend.plan('run', { kernel: scale, shape: [5] });
    expect(run.operands).toEqual(['inputs.by', 'inputs.acc', 'outputs.y']);
    run.launch([a, b, c], [2, 3]);
    expect(backend.launches[3]?.operands).toHaveLength(3);
  });

  it('refuses what the call refuses, at the plan or at the launch', async () => {
    const { backend, a, b, c } = await opened();
    expectInvalid(() => backend.plan('gemm', { ...SHAPE, m: -1 }), 'm must be a non-negative safe integer, got -1');
    expectInvalid(() => backend.plan('gem' as 'gemm', SHAPE), /^op must be one of/);
    expectInvalid(() => backend.plan('gemm', { ...SHAPE, ldaa: 3 } as typeof SHAPE), /did you mean lda/);
    const { launch } = backend.plan('gemm', SHAPE);
    expectInvalid(() => launch([a, b]), /^launch takes a list of 3 pointers \(a, b, c\)/);
    expectInvalid(() => launch('abc' as never), /^launch takes a list/);
    expectInvalid(() => launch([a, b, c, c]), /^launch takes a list/);
    expectInvalid(() => launch([a, 0.5 as DevicePtr, c]), 'b must be a DevicePtr, got 0.5');
    expectInvalid(() => launch([a, b, a]), 'c overlaps a');
    expectInvalid(() => launch([a, b, c], [1]), /^params must be a list of 0 numbers/);
    const run = backend.plan('run', { kernel: scale, shape: [5] });
    expectInvalid(() => run.launch([a, b, c]), /^kernel scale: params must be a list of 2 numbers/);
    expectInvalid(() => run.launch([a, b, c], [1, 0.5]), /params.n must be an integer/);
    expect(backend.launches).toEqual([]);
    backend.free(b);
    expectInvalid(() => launch([a, b, c]), /already freed/);
    await backend.dispose();
    expectError(() => launch([a, b, c]), 'DISPOSED');
  });

  it('with nothing to do takes null pointers, also where only its output is null', async () => {
    const { backend, a, b, c } = await opened();
    const none = 0 as DevicePtr;
    backend.plan('gemm', { ...SHAPE, m: 0 }).launch([none, none, none]);
    const empty = backend.plan('gemm', { ...SHAPE, k: 0, beta: 0.5 });
    empty.launch([none, none, none]);
    expect(backend.launches).toHaveLength(0);
    empty.launch([none, none, c]);
    expect(backend.launches).toHaveLength(1);
    expectInvalid(() => backend.plan('gemm', SHAPE).launch([a, b, none]), /unknown handle 0/);
  });

  it('looks at lists of the caller once, and at its own state after that', async () => {
    const { backend, a, b, c } = await opened();
    const { launch } = backend.plan('gemm', SHAPE);
    let reads = 0;
    const changing = new Proxy([a, b, c], {
      get: (list, at) => (at === '2' && reads++ > 0 ? a : (list[at as unknown as number] as unknown)),
    });
    launch(changing);
    expect(backend.launches[0]?.operands[2]?.buffer).not.toBe(backend.launches[0]?.operands[0]?.buffer);
    const freeing = new Proxy([a, b, c], {
      get(list, at) {
        if (at === '2') backend.free(b);
        return list[at as unknown as number];
      },
    });
    expectInvalid(() => launch(freeing), /already freed/);
    const throwing = new Proxy([a, b, c], {
      get(list, at) {
        if (at === '1') throw new TypeError('no');
        return list[at as unknown as number];
      },
    });
    expectInvalid(() => launch(throwing), 'the operands cannot be read: no');
    const disposing = new Proxy([a, b, c], {
      get(list, at) {
        if (at === '1') void backend.dispose();
        return list[at as unknown as number];
      },
    });
    expectError(() => launch(disposing), 'DISPOSED');
    expect(backend.launches).toHaveLength(1);
  });

  it('says so where the backend itself fails, not the caller', async () => {
    const { backend, a, b, c } = await opened();
    const plan = backend.plan('gemm', SHAPE);
    backend.onLaunch = () => {
      throw new TypeError('native call failed');
    };
    expectError(() => plan.launch([a, b, c]), 'DEVICE_ERROR', 'native call failed');
    backend.refusals.set('gemm', () => {
      throw new TypeError('planner failed');
    });
    expectError(() => backend.plan('gemm', { ...SHAPE, m: 5 }), 'DEVICE_ERROR', 'planner failed');
  });

  it('is recorded as the call is', async () => {
    const { backend, a, b, c } = await opened();
    const plan = backend.plan('gemm', SHAPE);
    const recording = backend.record(() => plan.launch([a, b, c]));
    recording.replay();
    expect(backend.launches).toHaveLength(2);
  });
});

it('planCall makes whole calls of a backend that cannot plan', async () => {
  const { backend, a, b, c, d } = await opened();
  const calls: unknown[] = [];
  const simple = {
    gemm: (call: GemmCall) => calls.push(call),
    attention: (call: unknown) => calls.push(call),
    run: (kernel: unknown, call: object) => calls.push({ kernel, ...call }),
  } as unknown as ComputeBackend;
  const view = { strides: [0, 0, 1] };
  for (const own of [simple, backend]) {
    const plan = planCall(own, 'gemm', { ...SHAPE, epilogue: { kernel: scale, inputs: { by: view } } });
    expect(plan.operands).toEqual(['a', 'b', 'epilogue.by', 'c']);
    plan.launch([a, b, d, c], [2, 3]);
  }
  expect(calls.pop()).toEqual({
    ...SHAPE,
    ...{ a, b, c },
    epilogue: { kernel: scale, inputs: { by: { ...view, ptr: d } }, params: { f: 2, n: 3 } },
  });
  const sizes = { batch: 1, heads: 1, seqQ: 2, seqKv: 2, headDim: 4, scale: 1 };
  planCall(simple, 'attention', { ...sizes, mask: { strides: [0, 0, 2, 1] } }).launch([a, b, b, d, c]);
  expect(calls.pop()).toEqual({ ...sizes, q: a, k: b, v: b, o: c, mask: { strides: [0, 0, 2, 1], ptr: d } });
  const run = planCall(simple, 'run', { kernel: scale, shape: [5], inputs: { by: { strides: [0] } } });
  expect(run.operands).toEqual(backend.plan('run', { kernel: scale, shape: [5] }).operands);
  run.launch([a, b, c], [2, 3]);
  expect(calls.pop()).toEqual({
    ...{ kernel: scale, shape: [5], params: { f: 2, n: 3 } },
    inputs: { by: { strides: [0], ptr: a }, acc: { ptr: b } },
    outputs: { y: { ptr: c } },
  });
});

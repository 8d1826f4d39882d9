import { BackendError, type ComputeBackend, type GemmCall } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { afterAll, describe, expect, test } from 'vitest';
import { expectInvalid } from '../../../backend-core/test/expect-error.ts';
import { add, attention, linear, run, softmax, tensor, type Tensor, tidy } from '../../src/index.ts';

// What functions keep for the layouts of their operands must not depend on anything else.

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

async function valuesOf(work: () => Tensor): Promise<number[]> {
  using result = tidy(work);
  return Array.from(await result.toArray());
}

/** Options one of which is another value when it is read again. */
const changing = <Options extends object>(options: Options, name: string, values: readonly unknown[]): Options => {
  let reads = 0;
  return Object.defineProperty({ ...options }, name, {
    enumerable: true,
    get: () => values[Math.min(reads++, values.length - 1)],
  });
};

describe('an option that changes while it is read', () => {
  const q = () => tensor(backend, [1, 0, 0, 1], [1, 1, 2, 2]);
  const v = () => tensor(backend, [1, 2, 3, 4], [1, 1, 2, 2]);

  test.each([1, 2, 3])('is not kept for others: scale of attention, read %s times before', async (reads) => {
    const plain = () => attention(q(), q(), v(), { scale: 0.25 });
    const values = [...Array.from({ length: reads }, () => 0.25), 100];
    tidy(() => void attention(q(), q(), v(), changing({ scale: 0.25 }, 'scale', values)));
    const [first = 0] = await valuesOf(plain);
    expect(first).toBeCloseTo(1.8756, 3);
  });

  test.each([1, 2, 3])('is not kept for others: activation of linear, read %s times before', async (reads) => {
    const [x, w] = [() => tensor(backend, [[1, 2]]), () => tensor(backend, [[3, 4]])];
    const values = [...Array.from({ length: reads }, () => 'relu'), 'tanh'];
    tidy(() => void linear(x(), w(), changing({ activation: 'relu' } as const, 'activation', values)));
    expect(await valuesOf(() => linear(x(), w(), { activation: 'relu' }))).toEqual([11]);
  });
});

test('a kernel that is plain data may change between two calls', async () => {
  const times = (): Kernel =>
    defineKernel('both', { inputs: { x: 'f32', y: 'f32' } }, ({ x, y }, k) => ({ z: k.mul(x, y) }));
  const plus = defineKernel('both', { inputs: { x: 'f32', y: 'f32' } }, ({ x, y }, k) => ({ z: k.add(x, y) }));
  const kernel = structuredClone(times()) as unknown as { nodes: unknown };
  const result = () =>
    valuesOf(() => {
      const inputs = { x: tensor(backend, [1, 2, 3]), y: tensor(backend, [10, 10, 10]) };
      return run(kernel as unknown as Kernel, inputs as never)['z'] as Tensor;
    });
  expect(await result()).toEqual([10, 20, 30]);
  kernel.nodes = structuredClone(plus.nodes);
  expect(await result()).toEqual([11, 12, 13]);
});

test('an axis that is a list of nothing is not the axis that was left out', () => {
  const sum = defineKernel('sum', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.fold('sum', x) }));
  tidy(() => {
    const x = tensor(backend, [1, 2, 3, 4], [2, 2]);
    run(sum, { x }, { axis: null as never });
    expect(expectInvalid(() => run(sum, { x }, { axis: [null] as never })).message).toContain('has no axis null');
  });
});

test('f16 with an activation works on a backend that neither plans nor fuses it', async () => {
  // The methods of the CPU's, on itself, but for two.
  const simple = new Proxy({} as ComputeBackend, {
    get(_, name) {
      if (name === 'plan') return undefined;
      if (name === 'gemm') {
        return (call: GemmCall) => {
          if (call.epilogue !== undefined) throw new BackendError('UNSUPPORTED', 'epilogues of f16 are not fused');
          backend.gemm(call);
        };
      }
      const value: unknown = backend[name as keyof CpuBackend];
      return typeof value === 'function' ? (value.bind(backend) as unknown) : value;
    },
  });
  for (let time = 0; time < 2; time++) {
    const values = await valuesOf(() => {
      const x = tensor(simple, new Float32Array([1, 2]), [1, 2], { dtype: 'f16' });
      const w = tensor(simple, new Float32Array([1, 1, -1, -1]), [2, 2], { dtype: 'f16' });
      return linear(x, w, { activation: 'relu' });
    });
    expect(values).toEqual([3, 0]);
  }
});

test('a tensor that was disposed is named by the function that gets it', () => {
  const gone = tensor(backend, [1, 2]);
  gone.dispose();
  expect(expectInvalid(() => softmax(gone)).op).toBe('softmax');
  using x = tensor(backend, [1, 2]);
  expect(expectInvalid(() => add(x, 1, { out: gone })).op).toBe('add');
});

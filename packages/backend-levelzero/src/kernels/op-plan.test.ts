import {
  BYTES_OF,
  type CheckedGemm,
  type KernelCall,
  type Launch,
  OPS,
  resolvedCall,
} from '@concord/backend-core/implement';
import { binaryKernel, checkedRun } from '@concord/backend-core/kernel';
import { LaunchPlans, planCall, spanAt } from '@concord/variants';
import { describe, expect, it } from 'vitest';
import { fakeMemory, PlanRecorder } from '../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../test/support/traits.ts';
import { FAMILIES } from './families.ts';
import { type OpPlan, PLANNING } from './op-plan.ts';
import type { DeviceMemory, Span } from './recorder.ts';

const N = 1000;

type Call = Launch<DeviceMemory>;

/** `output = a + b`, each operand in memory at an offset. */
function add(...places: readonly (readonly [buffer: DeviceMemory, byteOffset: number])[]): Call {
  const spans = places.map(([buffer, byteOffset]) => ({ buffer, byteOffset, byteLength: 4 * N }));
  const geometry = checkedRun(binaryKernel('add'), { shape: [N], inputs: {}, outputs: {} });
  return { kernel: 'run', call: geometry, opName: 'run', operands: spans, params: [] };
}

/** A product of k = 2^13, which GPUs split and processors take in blocks: with scratch memory. */
const PRODUCT = ((): KernelCall => {
  const [m, n, k] = [33, 70, 2 ** 13];
  const sizes = { m, n, k, lda: k, ldb: n, ldc: n, batchCount: 1, strideA: 0, strideB: 0, strideC: 0 };
  const operands = [
    { name: 'a', elements: m * k },
    { name: 'b', elements: k * n },
    { name: 'c', elements: m * n },
  ];
  const rest = { transA: false, transB: false, alpha: 1, beta: 0, dtype: 'f32', operands } as const;
  return { kernel: 'gemm', call: { ...sizes, ...rest } } as unknown as KernelCall;
})();
const product = (...operands: readonly Span[]): Call => ({ ...PRODUCT, opName: 'gemm', operands, params: [] });

const memories = (count: number): DeviceMemory[] => Array.from({ length: count }, () => fakeMemory(2 ** 26));
const whole = (buffer: DeviceMemory, byteOffset = 0): Span => ({ buffer, byteOffset, byteLength: 2 ** 25 });

it('one plan serves calls whose operands lie alike, wherever they begin', () => {
  const plans = new LaunchPlans(PLANNING, TEST_DEVICES.gpu);
  const [p, q, r, s] = memories(4) as [DeviceMemory, DeviceMemory, DeviceMemory, DeviceMemory];
  const plan = plans.of(add([p, 0], [q, 0], [r, 0]));
  expect(plans.of(add([q, 4], [s, 0], [p, 4096]))).toBe(plan);
  const { kernel, call } = add([p, 0], [q, 0], [r, 0]);
  expect(plans.ofShape({ kernel, call } as KernelCall)).toBe(plan);
  const others = [add([p, 0], [q, 0], [p, 0]), add([p, 0], [p, 4096], [r, 0]), add([p, 0], [p, 8192], [r, 0])];
  expect(new Set([plan, ...others.map((call) => plans.of(call))]).size).toBe(4);
});

it('operands of 2 bytes that begin within four bytes have their own plan', () => {
  const plans = new LaunchPlans(PLANNING, TEST_DEVICES.gpu);
  const f16 = { dtype: 'f16' } as const;
  const asked = { shape: [N], inputs: { a: f16, b: f16 }, outputs: { y: f16 } };
  const geometry = checkedRun(binaryKernel('add'), asked);
  const [p, q, r] = memories(3) as [DeviceMemory, DeviceMemory, DeviceMemory];
  const at = (a: number, b: number, y: number): OpPlan => {
    const [x, w, z] = [whole(p, a), whole(q, b), whole(r, y)];
    return plans.of({ kernel: 'run', call: geometry, opName: 'run', operands: [x, w, z], params: [] });
  };
  const plan = at(0, 0, 0);
  expect(at(4, 256, 8)).toBe(plan);
  expect(new Set([plan, at(2, 0, 0), at(0, 2, 0), at(0, 0, 2), at(6, 2, 0)]).size).toBe(5);
  expect(at(6, 4, 0)).toBe(at(2, 0, 0));
});

describe.each(['cpu', 'gpu', 'plainGpu'] as const)('as on %s', (device) => {
  const traits = TEST_DEVICES[device];
  const [p, q, r, s] = memories(4) as [DeviceMemory, DeviceMemory, DeviceMemory, DeviceMemory];

  it.each([
    ['apart', add([p, 4], [q, 0], [r, 0]), add([s, 260], [r, 512], [p, 0])],
    ['in one memory', add([p, 0], [p, 4096], [p, 8192]), add([q, 4096], [q, 8192], [q, 12_288])],
    ['with scratch memory', product(whole(p), whole(q), whole(r)), product(whole(q, 8), whole(s), whole(p, 4))],
  ])('a plan from the cache launches what planning at once would: operands %s', (_, before, then) => {
    const plans = new LaunchPlans(PLANNING, traits);
    const plan = plans.of(before);
    expect(plans.of(then)).toBe(plan);
    const direct = new PlanRecorder(traits);
    planCall(FAMILIES, resolvedCall(then), direct);
    expect(direct.scratches.map(({ byteLength }) => byteLength)).toEqual(plan.scratch);
    const memory = [...then.operands, ...direct.scratches];
    const launches = plan.steps.flatMap((step) => {
      if (!('kernel' in step)) return [];
      const { kernel, args, seconds, ...rest } = step;
      expect(seconds).toBeGreaterThan(0);
      const entries = kernel.parameters.map(({ name }, index) => {
        const value = args[index] as (typeof args)[number];
        return [name, typeof value === 'number' || 'parameter' in value ? value : spanAt(memory, value)];
      });
      return { kernel, args: Object.fromEntries(entries) as object, ...rest };
    });
    expect(launches).toEqual(direct.launches.map(({ multiplyAdds: _, ...launch }) => launch));
  });
});

it.each([
  ['gemm', { m: 100, n: 70, k: 33 }],
  ['gemm', { m: 64, n: 64, k: 2 ** 15, dtype: 'f16' }],
  ['gemm', { m: 1, n: 512, k: 512, transB: 'T' }],
  ['attention', { batch: 1, heads: 4, seqQ: 300, seqKv: 1000, headDim: 64 }],
  ['attention', { batch: 1, heads: 4, kvHeads: 2, seqQ: 1, seqKv: 1000, headDim: 64, dtype: 'f16' }],
] as const)('one plan of %s %o serves all scalars, as a plan of their own would', (op, shape) => {
  const argsOf = (scalars: readonly [number, number], params: readonly [number, number]) => {
    const own =
      op === 'attention' ? { scale: scalars[0], softcap: scalars[1] } : { alpha: scalars[0], beta: scalars[1] };
    const call = OPS[op].check({ ...shape, ...own } as never, false) as CheckedGemm;
    const operands = call.operands.map(({ elements, dtype }) => whole(fakeMemory(elements * BYTES_OF[dtype])));
    const launch = { kernel: OPS[op].kernel, call, opName: op, operands, params: scalars } as unknown as Call;
    return new LaunchPlans(PLANNING, TEST_DEVICES.gpu)
      .of(launch)
      .steps.map((step) =>
        'dst' in step
          ? step
          : step.args.map((arg) => (typeof arg === 'object' && 'parameter' in arg ? params.at(arg.parameter) : arg)),
      );
  };
  expect(argsOf([2, 3], [0.125, 7])).toEqual(argsOf([0.125, 7], [0.125, 7]));
  expect(argsOf([2, 3], [2, 3])).not.toEqual(argsOf([2, 3], [0.125, 7]));
});

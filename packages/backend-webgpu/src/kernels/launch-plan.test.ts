import { BYTES_OF, type CheckedGemm, type Launch, OPS, resolvedCall } from '@concord/backend-core/implement';
import { binaryKernel, reduceKernel, unaryKernel } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { callWords } from '../client/bind-group-cache.ts';
import { fakeBuffer, fakeSpan, PlanRecorder } from '../../test/support/plan-recorder.ts';
import { fakeRun } from '../../test/support/planned-run.ts';
import { TEST_DEVICES } from '../../test/support/traits.ts';
import { dispatchesOf } from './dispatch.ts';
import { FAMILIES } from './families.ts';
import { type LaunchPlan, PLANNING } from './launch-plan.ts';
import type { Span, StorageBuffer } from './recorder.ts';
import { LaunchPlans, NOTHING_TUNED, planCall, spanAt } from '@concord/variants';

const N = 1000;
const traits = TEST_DEVICES.gpu;

type Op = Extract<Launch<StorageBuffer>, { kernel: 'run' }>;

/** The launch of a run with its operands. */
function launchOf(...run: Parameters<typeof fakeRun>): Op {
  const { geometry, inputs, outputs, params } = fakeRun(...run);
  const operands = [...inputs, ...outputs].filter((operand) => operand !== undefined);
  return { kernel: 'run', call: geometry, opName: 'run', operands, params };
}

/** `output = a + b`, each operand in a buffer at an offset. */
function add(...places: readonly (readonly [buffer: StorageBuffer, byteOffset: number])[]): Op {
  const memory = places.map(([buffer, byteOffset]) => ({ buffer, byteOffset, byteLength: 4 * N }));
  return launchOf(binaryKernel('add'), { shape: [N], memory });
}

/** A sum of many rows in two passes, with scratch memory between. */
function sum(input: Span, output: Span, length: number): Op {
  const asked = { shape: [1, length], folded: 1, memory: [input, output] };
  return launchOf(reduceKernel('sum'), asked);
}

const buffers = (count: number): StorageBuffer[] => Array.from({ length: count }, () => fakeBuffer(2 ** 20));

describe('one plan serves', () => {
  it('calls whose operands lie alike', () => {
    const plans = new LaunchPlans(PLANNING, traits);
    const [p, q, r, s] = buffers(4) as [StorageBuffer, StorageBuffer, StorageBuffer, StorageBuffer];
    const plan = plans.of(add([p, 0], [q, 0], [r, 0]));
    expect(plans.of(add([q, 0], [s, 0], [p, 0]))).toBe(plan);
    expect(plans.of(add([q, 256], [s, 0], [p, 4096]))).toBe(plan);
    expect(plans.ofShape({ kernel: 'run', call: add([p, 0], [q, 0], [r, 0]).call })).toBe(plan);
  });

  it('not those that lie otherwise, and no other shape', () => {
    const plans = new LaunchPlans(PLANNING, traits);
    const [p, q, r] = buffers(3) as [StorageBuffer, StorageBuffer, StorageBuffer];
    const input = { buffer: p, byteOffset: 0, byteLength: 4 * N };
    const output = { buffer: q, byteOffset: 0, byteLength: 4 };
    const calls = [
      add([p, 0], [q, 0], [r, 0]),
      add([p, 4], [q, 0], [r, 0]),
      add([p, 16], [q, 0], [r, 0]),
      add([p, 0], [q, 0], [p, 0]),
      add([p, 0], [q, 0], [q, 0]),
      add([p, 0], [p, 0], [r, 0]),
      add([p, 0], [p, 4096], [r, 0]),
      add([p, 0], [p, 8192], [r, 0]),
      add([p, 0], [p, 0], [p, 0]),
      sum(input, output, N),
      sum(input, output, N - 1),
    ];
    expect(new Set(calls.map((call) => plans.of(call))).size).toBe(calls.length);
  });
});

it('in place is not apart, also where one object is both operands', () => {
  const plans = new LaunchPlans(PLANNING, traits);
  const both = { buffer: fakeBuffer(4 * N), byteOffset: 0, byteLength: 4 * N };
  const launch = launchOf(unaryKernel('exp'), { shape: [N], memory: [both, both] });
  const apart = plans.ofShape({ kernel: 'run', call: launch.call });
  expect(plans.of(launch)).not.toBe(apart);
});

it('a plan from the cache binds what planning at once would', () => {
  const plans = new LaunchPlans(PLANNING, traits);
  const [p, q, r, s] = buffers(4) as [StorageBuffer, StorageBuffer, StorageBuffer, StorageBuffer];
  const big = { buffer: fakeBuffer(2 ** 28), byteOffset: 0, byteLength: 2 ** 28 };
  const pairs: readonly (readonly [first: Op, then: Op])[] = [
    [add([p, 4], [q, 0], [r, 0]), add([s, 260], [r, 512], [p, 0])],
    [add([p, 0], [p, 4096], [p, 8192]), add([q, 4096], [q, 8192], [q, 12288])],
    [
      sum(big, { buffer: p, byteOffset: 8, byteLength: 4 }, 2 ** 26),
      sum({ ...big, buffer: fakeBuffer(2 ** 28) }, { buffer: q, byteOffset: 264, byteLength: 4 }, 2 ** 26),
    ],
  ];
  for (const [first, then] of pairs) {
    const plan = plans.of(first);
    expect(plans.of(then)).toBe(plan);
    const direct = new PlanRecorder(traits);
    planCall(FAMILIES, resolvedCall(then), direct);
    expect(direct.scratches.map(({ byteLength }) => byteLength)).toEqual(plan.scratch);
    const memory = [...then.operands, ...direct.scratches];
    const bound = plan.steps.flatMap((step) =>
      'kernel' in step ? [{ ...step, spans: step.places.map((place) => spanAt(memory, place)) }] : [],
    );
    const copied = plan.steps.flatMap((step) =>
      'dst' in step ? [{ dst: spanAt(memory, step.dst), src: spanAt(memory, step.src) }] : [],
    );
    const wanted = direct.launches.flatMap((launch) => dispatchesOf(launch, traits.maxWorkgroupsPerDimension));
    expect(bound).toMatchObject(wanted);
    expect(bound).toHaveLength(wanted.length);
    expect(copied).toEqual(direct.copies);
  }
});

it('plans are made anew when other variants are wanted', () => {
  const preferences = { forced: [] as readonly string[], tuned: NOTHING_TUNED };
  const plans = new LaunchPlans(PLANNING, { ...traits, preferences });
  const [p, q, r] = buffers(3) as [StorageBuffer, StorageBuffer, StorageBuffer];
  const call = add([p, 0], [q, 0], [r, 0]);
  const plan = plans.of(call);
  preferences.forced = ['map/flat-1'];
  const other = plans.of(call);
  expect(other).not.toBe(plan);
  expect(plans.of(call)).toBe(other);
});

it('a program that makes ever new calls does not drive out what is made again', () => {
  const plans = new LaunchPlans(PLANNING, traits);
  const [p, q, r] = buffers(3) as [StorageBuffer, StorageBuffer, StorageBuffer];
  const again = add([p, 0], [q, 0], [r, 0]);
  const plan = plans.of(again);
  for (let length = 2; length < 3000; length++) {
    const input = { buffer: p, byteOffset: 0, byteLength: 4 * length };
    plans.of(sum(input, { buffer: q, byteOffset: 0, byteLength: 4 }, length));
    if (length % 100 === 0) expect(plans.of(again)).toBe(plan);
  }
});

/** Calls whose scalars are their launches' own, of each way to compute them. */
const SCALED: readonly (readonly ['gemm' | 'batchedGemm' | 'attention', object])[] = [
  ['gemm', { m: 100, n: 70, k: 33 }],
  ['gemm', { m: 1, n: 512, k: 512, transB: 'T', dtype: 'f16' }],
  ['gemm', { m: 64, n: 64, k: 2 ** 15 }],
  ['batchedGemm', { m: 7, n: 5, k: 9, batchCount: 3, strideA: 63, strideB: 45, strideC: 35, dtype: 'f16' }],
  ...[{}, { kvHeads: 2, dtype: 'f16' }, { seqQ: 1 }, { seqQ: 1, causal: true, causalOffset: 7 }].map(
    (change) => ['attention', { batch: 1, heads: 4, seqQ: 300, seqKv: 1000, headDim: 64, ...change }] as const,
  ),
];

it.each(SCALED)('one plan of %s %o serves all scalars, as a plan of their own would', (op, shape) => {
  const scaled = (scalars: readonly [number, number]): { launch: Launch<StorageBuffer>; plan: LaunchPlan } => {
    const own =
      op === 'attention' ? { scale: scalars[0], softcap: scalars[1] } : { alpha: scalars[0], beta: scalars[1] };
    const call = OPS[op].check({ ...shape, ...own } as never, false) as CheckedGemm;
    const operands = call.operands.map(({ elements, dtype }) => fakeSpan(elements * BYTES_OF[dtype]));
    const launch = {
      kernel: OPS[op].kernel,
      call,
      opName: op,
      operands,
      params: scalars,
    } as unknown as Launch<StorageBuffer>;
    return { launch, plan: new LaunchPlans(PLANNING, traits).of(launch) };
  };
  const wordsOf = (plan: LaunchPlan, params: readonly number[], memory: readonly Span[]) => {
    const all = [...memory, ...plan.scratch.map((bytes) => fakeSpan(bytes))];
    return plan.steps.map((step) => ('dst' in step ? [] : [...callWords(plan, step, params, all, 2 ** 32)]));
  };
  const [one, other] = [scaled([2, 3]), scaled([0.125, 7])];
  expect(wordsOf(one.plan, [0.125, 7], one.launch.operands)).toEqual(
    wordsOf(other.plan, [0.125, 7], other.launch.operands),
  );
  expect(wordsOf(one.plan, [2, 3], one.launch.operands)).not.toEqual(
    wordsOf(one.plan, [0.125, 7], one.launch.operands),
  );
});

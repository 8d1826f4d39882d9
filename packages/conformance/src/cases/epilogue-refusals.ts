import type { ComputeBackend, DevicePtr } from '@concord/backend-core';
import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { epilogueKernel } from '../epilogue/kernels.ts';
import type { ConformanceCase } from '../harness/case.ts';
import { behaviour } from '../harness/case-text.ts';
import { expectUntouched, needsOf, outputOf, type SampleCall, sampleOf } from '../harness/sample-calls.ts';
import { remembered } from '../run/hand-kernels.ts';

/** The epilogue of a wrong call, and what the error's detail says. */
type Wrong = readonly [epilogue: (output: DevicePtr, extra: DevicePtr, rank: number) => unknown, detail: RegExp];

const ACC = { acc: 'f32' } as const;
const kernels: Readonly<Record<string, () => Kernel>> = {
  'no acc': () => defineKernel('no acc', { inputs: { x: 'f32' } }, ({ x }) => ({ y: x })),
  'acc of integers': () => defineKernel('acc of integers', { inputs: { acc: 'i32' } }, ({ acc }) => ({ y: acc })),
  fold: () => defineKernel('fold', { inputs: ACC }, ({ acc }, k) => ({ y: k.sub(acc, k.fold('mean', acc)) })),
  gather: () =>
    defineKernel(
      'gather',
      { inputs: { ...ACC, table: { type: 'f32', access: 'gather', rank: 1 } } },
      ({ acc, table }, k) => ({ y: k.add(acc, k.gather(table, [k.index(-1)], 0)) }),
    ),
  'two outputs': () => defineKernel('two outputs', { inputs: ACC }, ({ acc }, k) => ({ y: acc, z: k.neg(acc) })),
  'an output of integers': () =>
    defineKernel('an output of integers', { inputs: ACC }, ({ acc }, k) => ({ y: k.toI32(acc) })),
  'in place': () =>
    defineKernel('in place', { inputs: { ...ACC, bias: 'f32' } }, ({ acc, bias }, k) => ({ bias: k.add(acc, bias) })),
  'four inputs': () =>
    defineKernel(
      'four inputs',
      { inputs: { ...ACC, a: 'f32', b: 'f32', c: 'f32', d: 'f32' } },
      ({ acc, a, b, c, d }, k) => ({ y: k.add(k.add(k.add(k.add(acc, a), b), c), d) }),
    ),
  'an axis too many': () =>
    defineKernel('an axis too many', { inputs: ACC }, ({ acc }, k) => ({ y: k.add(acc, k.toF32(k.index(4))) })),
};
const named = (name: string): Kernel => remembered(`wrong epilogue ${name}`, kernels[name] as () => Kernel);
const bias = (inputs: unknown): unknown => ({ kernel: epilogueKernel('bias'), inputs });

const WRONG: Readonly<Record<string, Wrong>> = {
  'an epilogue that is no object': [() => 7, /^epilogue must be/],
  'an epilogue without a kernel': [() => ({}), /kernel/],
  'an epilogue without acc': [() => ({ kernel: named('no acc') }), /acc/],
  'an epilogue with an integer acc': [() => ({ kernel: named('acc of integers') }), /acc/],
  'an epilogue that folds': [() => ({ kernel: named('fold') }), /must not fold/],
  'an epilogue that gathers': [(_, table) => ({ kernel: named('gather'), inputs: { table } }), /must not gather/],
  'an epilogue of two outputs': [() => ({ kernel: named('two outputs') }), /one output/],
  'an epilogue that gives integers': [() => ({ kernel: named('an output of integers') }), /type f32/],
  'an epilogue in the place of an input': [
    (_, bias) => ({ kernel: named('in place'), inputs: { bias } }),
    /must not store in the place/,
  ],
  'an epilogue of four inputs': [() => ({ kernel: named('four inputs') }), /at most 3 inputs/],
  'an epilogue with an axis too many': [() => ({ kernel: named('an axis too many') }), /axis/],
  'an input of the epilogue that is missing': [() => bias({}), /bias/],
  'an input of the epilogue that it does not have': [(_, extra) => bias({ bias: extra, other: extra }), /other/],
  'acc as an input of the epilogue': [(_, extra) => bias({ bias: extra, acc: extra }), /acc/],
  'too few strides of an input of the epilogue': [(_, ptr) => bias({ bias: { ptr, strides: [1] } }), /strides/],
  'an input of the epilogue out of bounds': [
    // Every sample call has more than one column; windows of 4,096 bytes can be bound everywhere.
    (_, ptr, rank) => bias({ bias: { ptr, strides: Array.from({ length: rank }, () => 64) } }),
    /out of bounds/,
  ],
  'a misaligned input of the epilogue': [(_, extra) => bias({ bias: extra + 1 }), /aligned/],
  'an input of the epilogue in the output': [
    (output, _, rank) => bias({ bias: { ptr: output, strides: Array.from({ length: rank }, () => 0), dtype: 'f16' } }),
    /overlaps/,
  ],
  'parameters of the epilogue that are missing': [() => ({ kernel: epilogueKernel('parameters') }), /params/],
  'a parameter of the epilogue out of range': [
    () => ({ kernel: epilogueKernel('parameters'), params: { factor: 1, least: 2 ** 31 } }),
    /least/,
  ],
};

async function expectRefused(backend: ComputeBackend, sample: SampleCall, [epilogue, detail]: Wrong): Promise<void> {
  const extra = backend.alloc(128);
  const rank = sample.op === 'conv2dForward' ? 4 : 3;
  try {
    await expectUntouched(
      backend,
      sample,
      (pointers) => ({ epilogue: epilogue(pointers[outputOf(sample)] as DevicePtr, extra, rank) }),
      { code: 'INVALID_ARGUMENT', detail },
    );
  } finally {
    backend.free(extra);
  }
}

/** Wrong epilogues of every op that takes them: refused before anything is touched. */
export const epilogueRefusalCases: readonly ConformanceCase[] = (
  ['gemm', 'batchedGemm', 'gemmF16', 'conv2dForward'] as const
).flatMap((op) => {
  const sample = sampleOf(op);
  const { dtype } = needsOf(sample);
  return Object.entries(WRONG).map(([what, wrong]): ConformanceCase => ({
    id: `${op}/refuses/${what}`,
    op,
    params: {},
    needs: { op, dtype, shape: { ...sample.shape, epilogue: { kernel: epilogueKernel('copy') } } },
    about: behaviour(`Calls ${op} with ${what}.`, 'The call throws INVALID_ARGUMENT at once; nothing is written.'),
    run: ({ backend }) => expectRefused(backend, sample, wrong),
  }));
});

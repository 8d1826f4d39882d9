import { type ComputeBackend, type DevicePtr, NULL_PTR, offsetPtr } from '@concord/backend-core';
import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { caseOf, type ConformanceCase, initialized, type Needs } from '../../harness/case.ts';
import { expectRejects, expectThrows } from '../../harness/planned-call.ts';
import { handKernel } from '../../run/hand-kernels.ts';
import { RunMemory } from '../../run/judge.ts';
import { foldKernel } from '../../run/node-kernels.ts';
import { callOf, RUN_DEFAULTS, type RunParams, type RunPlan, shapeOf } from '../../run/plan.ts';
import { planned } from './suite.ts';
import { field, input, type MakeWrong, output, WRONG_CALLS } from './wrong-calls.ts';

/** A call as a program without types might make it. */
export type LooseCall = Record<string, unknown> & {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly params: Readonly<Record<string, unknown>>;
};

/** The minimum number of bytes by which an operand must move until its end is beyond that of its allocation. */
export const GUARD = 64;

/** A kernel with every kind of operand: elements, rows, a tensor read by index, and parameters of each type. */
export const SAMPLE_KERNEL: Kernel = defineKernel(
  'sample',
  {
    inputs: { x: 'f32', n: 'i32', r: { type: 'f32', level: 'row' }, t: { type: 'f32', access: 'gather', rank: 2 } },
    params: { p: 'f32', i: 'i32', u: 'u32' },
  },
  ({ x, n, r, t, p, i, u }, k) => ({
    y: k.add(k.mul(x, p), k.gather(t, [k.add(n, i), k.index(-1)], 0)),
    s: k.fold('sum', k.add(k.sub(x, r), k.toF32(u))),
  }),
);

/** The sample over [4, 6], rows of 6. */
export function samplePlan(): RunPlan {
  return planned(SAMPLE_KERNEL, { ...RUN_DEFAULTS, shape: [4, 6], folded: 1 }, 'sample');
}

/** Makes the operands of a plan, gives its call and their addresses to `use`, and sees that no byte has changed. */
async function withUntouched(
  backend: ComputeBackend,
  plan: RunPlan,
  use: (call: LooseCall, pointers: Readonly<Record<string, DevicePtr>>) => void,
): Promise<void> {
  const memory = new RunMemory(backend, plan);
  try {
    memory.upload();
    const pointers = Object.fromEntries(plan.operands.map(({ name }, index) => [name, memory.ptrOf(index)]));
    use(callOf(plan, (operand) => memory.ptrOf(operand)) as unknown as LooseCall, pointers);
    await memory.expectUntouched();
  } finally {
    memory.free();
  }
}

/** Calls `run` with whatever is given. */
export function looseRun(backend: ComputeBackend, kernel: unknown, call: unknown): void {
  (backend.run as (kernel: unknown, call: unknown) => void).call(backend, kernel, call);
}

/** Requires a backend that can make the call of a plan. */
export function needsOfRun(plan: RunPlan): Needs {
  const call = (backend: ComputeBackend): void =>
    backend.run(
      plan.kernel,
      callOf(plan, () => NULL_PTR),
    );
  return { op: 'run', dtype: 'f32', shape: { ...shapeOf(plan) }, call };
}

const INVALID = 'INVALID_ARGUMENT' as const;

/** A case for a backend that can make the call of the sample. */
const sampleCase = (what: string, run: ConformanceCase['run']): ConformanceCase =>
  caseOf(`run/${what}`, 'run', run, needsOfRun(samplePlan()));

/** The call of a refusal, where it is not the sample. */
interface Subject {
  readonly kernel: unknown;
  readonly plan: () => RunPlan;
}

const SAMPLE: Subject = { kernel: SAMPLE_KERNEL, plan: samplePlan };

function refusal(what: string, detail: RegExp, make: MakeWrong, { kernel, plan }: Subject = SAMPLE): ConformanceCase {
  return sampleCase(`refuses/${what}`, ({ backend }) =>
    withUntouched(backend, plan(), (call, pointers) =>
      expectThrows('run', { code: INVALID, detail }, () => looseRun(backend, kernel, make(call, pointers))),
    ),
  );
}

const same: MakeWrong = (call) => call;
const damaged = (change: object): unknown => ({ ...(JSON.parse(JSON.stringify(SAMPLE_KERNEL)) as object), ...change });
const nodes = SAMPLE_KERNEL.nodes.map((node) => ({ ...node }));

/** Values that are no kernel, or a changed one: a backend runs nothing that it has not checked. */
const KERNELS: readonly (readonly [what: string, kernel: unknown])[] = [
  ['no kernel', undefined],
  ['an empty value for a kernel', null],
  ['the name of a kernel', 'sample'],
  ['an empty object as a kernel', {}],
  ['a kernel without a name', damaged({ name: '' })],
  ['a kernel without nodes', damaged({ nodes: [] })],
  ['a kernel without outputs', damaged({ outputs: [] })],
  [
    'a kernel of an operation that there is not',
    damaged({ nodes: nodes.map((node) => ('op' in node ? { ...node, op: 'toString' } : node)) }),
  ],
  ['a kernel of a node that there is not', damaged({ nodes: nodes.map((node) => ({ ...node, kind: 'loop' })) })],
  ['a kernel whose nodes stand before their operands', damaged({ nodes: [...nodes].reverse() })],
  ['a kernel that says a wrong type', damaged({ nodes: nodes.map((node) => ({ ...node, type: 'u32' })) })],
  ['a kernel that says a wrong level', damaged({ nodes: nodes.map((node) => ({ ...node, level: 'call' })) })],
  ['a kernel whose output is no node', damaged({ outputs: [{ ...SAMPLE_KERNEL.outputs[0], node: 9999 }] })],
  [
    'a kernel with an input that it does not use',
    damaged({ inputs: [...SAMPLE_KERNEL.inputs, { name: 'z', type: 'f32', access: 'element', rank: 0 }] }),
  ],
  [
    'a kernel with a tensor of five axes',
    damaged({ inputs: SAMPLE_KERNEL.inputs.map((own) => ({ ...own, rank: 5 })) }),
  ],
  [
    'a kernel with an output in the place of a tensor that it reads anywhere',
    damaged({ outputs: [{ ...SAMPLE_KERNEL.outputs[0], name: 't' }] }),
  ],
  ['a kernel of 300 nodes', damaged(chain(300))],
];

/** A chain of this many additions. */
function chain(count: number): object {
  const [x] = [{ kind: 'input', name: 'x', type: 'f32', level: 'element' }];
  const sums = Array.from({ length: count }, (_, index) => ({
    ...{ kind: 'arithmetic', op: 'add', type: 'f32', level: 'element', operands: [index, index] },
  }));
  return {
    inputs: [{ name: 'x', type: 'f32', access: 'element', rank: 0 }],
    params: [],
    nodes: [x, ...sums],
    outputs: [{ name: 'y', type: 'f32', level: 'element', node: count }],
  };
}

const axisKernel = (name: string, axis: number, isRow: boolean): Kernel =>
  defineKernel(name, { inputs: { x: 'u32' } }, ({ x }, k) => ({
    y: isRow ? k.add(k.fold('sum', x), k.rowIndex(axis)) : k.add(x, k.index(axis)),
  }));

/** Axes that a kernel reads and the call does not have. */
const AXES: readonly (readonly [what: string, axis: number, isRow: boolean])[] = [
  ['an axis that the call lacks', 2, false],
  ['an axis before the first', -3, false],
  ['a row axis that is folded', 1, true],
  ['a row axis before the first', -2, true],
];

const IN_PLACE = defineKernel('in place', { inputs: { x: 'f32', z: 'f32' } }, ({ x, z }, k) => ({ x: k.add(x, z) }));

const plain = (change: Partial<RunParams>, kernel: Kernel): (() => RunPlan) => {
  return () => planned(kernel, { ...RUN_DEFAULTS, ...change }, 'plain');
};

/** Wrong calls of `run`: refused with the right error before anything is touched. */
export const runRefusalCases: readonly ConformanceCase[] = [
  ...WRONG_CALLS.map(([what, detail, make]) => refusal(what, detail, make)),
  ...KERNELS.map(([what, kernel]) => refusal(what, /kernel|inputs|outputs/, same, { ...SAMPLE, kernel })),
  ...AXES.map(([what, axis, isRow]) => {
    const kernel = axisKernel(what, axis, isRow);
    const detail = new RegExp(`asks for (rowIndex|index)\\(${axis}\\)`);
    // The operands of a kernel that does run over the shape.
    const like = isRow ? foldKernel('sum', 'u32') : handKernel('copy u32');
    return refusal(what, detail, same, { kernel, plan: plain({ shape: [3, 4], folded: isRow ? 1 : 0 }, like) });
  }),
  ...(
    [
      ['apart from the input whose name it has', /must be where/, (_, { z = NULL_PTR }) => z],
      ['among the elements of the input whose name it has', /must be where/, (x) => offsetPtr(x, 4)],
      ['with other strides than the input whose name it has', /in its place/, (ptr) => ({ ptr, strides: [2] })],
      ['in another type than the input whose name it has', /in its place/, (ptr) => ({ ptr, dtype: 'f16' })],
    ] as const satisfies readonly (readonly [string, RegExp, Parameters<typeof output>[1]])[]
  ).map(([what, detail, change]) => {
    const plan = plain({ shape: [12] }, IN_PLACE);
    return refusal(`an output ${what}`, detail, output('x', change), { kernel: IN_PLACE, plan });
  }),
  refusal('folded axes where nothing is folded', /folds nothing/, field({ folded: 1 }), {
    kernel: handKernel('copy'),
    plan: plain({ shape: [12] }, handKernel('copy')),
  }),
  sampleCase('refuses/a wrong shape in prepare', async ({ backend }) => {
    const call = {
      kernel: SAMPLE_KERNEL,
      shape: [4, 6],
      folded: 1,
      inputs: { x: { strides: [1] }, t: { shape: [9, 5] } },
    };
    await expectRejects('prepare', { code: INVALID, detail: /strides of input x/ }, () =>
      backend.prepare([{ op: 'run', call }]),
    );
  }),
  sampleCase('zero-size/null pointers', ({ backend }) =>
    withUntouched(backend, samplePlan(), (call, { x }) => {
      const t = { ptr: NULL_PTR, shape: [9, 5] };
      for (const ptr of [NULL_PTR, offsetPtr(x as DevicePtr, 1), x]) {
        const pointers = { inputs: { x: ptr, n: ptr, r: ptr, t }, outputs: { y: ptr, s: ptr } };
        looseRun(backend, SAMPLE_KERNEL, { ...call, ...pointers, shape: [0, 6] });
      }
    }),
  ),
  sampleCase('refuses/a pointer of another backend object', async ({ backend, create }) => {
    const other = await initialized({ create });
    const foreign = other.alloc(4096);
    await withUntouched(backend, samplePlan(), (call, pointers) => {
      const wrong = input('x', () => foreign)(call, pointers);
      expectThrows('run', { code: INVALID, detail: /unknown handle/ }, () => looseRun(backend, SAMPLE_KERNEL, wrong));
    });
    other.free(foreign);
  }),
];

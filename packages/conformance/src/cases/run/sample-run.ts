import { type ComputeBackend, type DevicePtr, NULL_PTR } from '@concord/backend-core';
import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import type { Needs } from '../../harness/case.ts';
import { callOf, shapeOf } from '../../run/call.ts';
import { RunMemory } from '../../run/memory.ts';
import { RUN_DEFAULTS } from '../../run/params.ts';
import type { RunPlan } from '../../run/plan.ts';
import { planned } from './checks.ts';

/** A call as a program without types might make it. */
export type LooseCall = Record<string, unknown> & {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly params: Readonly<Record<string, unknown>>;
};

/** The minimum number of bytes by which an operand must move until its end is beyond that of its allocation. */
export const GUARD = 64;

/** With every kind of operand: elements, rows, a tensor read by index, and parameters of each type. */
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
export async function withUntouched(
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

/** That a backend can make the call of a plan. */
export function needsOfRun(plan: RunPlan): Needs {
  const call = (backend: ComputeBackend): void =>
    backend.run(
      plan.kernel,
      callOf(plan, () => NULL_PTR),
    );
  return { op: 'run', dtype: 'f32', shape: { ...shapeOf(plan) }, call };
}

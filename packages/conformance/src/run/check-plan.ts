import { type ComputeBackend, isBackendError } from '@concord/backend-core';
import { CaseFailure, type CaseContext, UnsupportedCall } from '../harness/case.ts';
import { callOf, shapeOf } from './call.ts';
import { expectedOf, judge, note } from './judge.ts';
import { RunMemory, type RunResult } from './memory.ts';
import type { RunPlan } from './plan.ts';

/**
 * Runs a plan and compares its outputs with the oracle.
 *
 * @throws {CaseFailure} where they leave what they may hold, or anything else was written
 * @throws {UnsupportedCall} where the backend declares that it cannot run it, and stands by it
 */
export async function checkPlan(context: CaseContext, plan: RunPlan, when = ''): Promise<RunResult> {
  const { backend } = context;
  const result = await runPlan(backend, plan);
  const expected = expectedOf(plan, backend.capabilities.numerics.f32Subnormals);
  note(context, expected);
  judge(plan, expected, result, when);
  return result;
}

/** Runs a plan in its own memory. */
export async function runPlan(backend: ComputeBackend, plan: RunPlan): Promise<RunResult> {
  const memory = new RunMemory(backend, plan);
  try {
    memory.upload();
    callRun(backend, plan, memory);
    return await memory.download();
  } finally {
    memory.free();
  }
}

/**
 * Makes the call of a plan, after asking whether it is supported.
 *
 * @throws {UnsupportedCall} where it is not and the call says so too
 * @throws {CaseFailure} where the answer and the call disagree
 */
export function callRun(backend: ComputeBackend, plan: RunPlan, memory: RunMemory): void {
  const support = backend.supports('run', shapeOf(plan));
  const call = (): void =>
    backend.run(
      plan.kernel,
      callOf(plan, (operand) => memory.ptrOf(operand)),
    );
  if (support.ok) {
    call();
    return;
  }
  expectUnsupported(`run of kernel ${plan.kernel.name}`, support.reason, call);
}

/**
 * Sees that a call which `supports` refuses is refused.
 *
 * @throws {UnsupportedCall} where it is
 * @throws {CaseFailure} where it is accepted, throws another error, or no reason was given
 */
export function expectUnsupported(what: string, reason: string, call: () => void): never {
  if (reason === '') throw new CaseFailure(`${what} is unsupported without a reason`);
  try {
    call();
  } catch (error) {
    if (isBackendError(error, 'UNSUPPORTED')) throw new UnsupportedCall(reason);
    throw new CaseFailure(`declared unsupported ("${reason}"), but the call threw ${String(error)}`);
  }
  throw new CaseFailure(`declared unsupported ("${reason}"), but the call was accepted`);
}

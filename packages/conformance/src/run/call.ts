import { type DevicePtr, type DType, NULL_PTR } from '@concord/backend-core';
import type { RunCall, RunOperand, RunShape, RunView } from '@concord/backend-core/kernel';
import type { PlannedOperand, RunPlan } from './plan.ts';

/** The call of a plan; with `ptrOf` null, with null pointers. */
export function callOf(plan: RunPlan, ptrOf: (operand: number) => DevicePtr): RunCall {
  const { shape, folded, operands, params } = plan;
  const entries = operands.map((operand, index) => [operand.name, operandOf(plan, operand, ptrOf(index))] as const);
  const inputs = entries.filter((_, index) => operands[index]?.isOutput === false);
  const outputs = entries.filter((_, index) => operands[index]?.isOutput === true);
  return {
    shape,
    ...(folded === 0 ? {} : { folded }),
    ...(inputs.length === 0 ? {} : { inputs: Object.fromEntries(inputs) }),
    outputs: Object.fromEntries(outputs),
    ...(Object.keys(params).length === 0 ? {} : { params }),
  } as RunCall;
}

/** The call of a plan as `supports` and `prepare` take it: the kernel beside it, no pointers, no parameters. */
export function shapeOf(plan: RunPlan): RunShape {
  const { shape, folded, inputs, outputs } = callOf(plan, () => NULL_PTR);
  return {
    kernel: plan.kernel,
    shape,
    ...(folded === undefined ? {} : { folded }),
    ...(inputs === undefined ? {} : { inputs: viewsOf(inputs) }),
    outputs: viewsOf(outputs),
  };
}

function viewsOf(operands: Readonly<Record<string, number | RunOperand>>): Record<string, RunView> {
  const views = Object.entries(operands).flatMap(([name, value]) => {
    if (typeof value === 'number') return [];
    const { ptr: _, ...view } = value;
    return [[name, view]];
  });
  return Object.fromEntries(views) as Record<string, RunView>;
}

/** A pointer where the operand is dense in its own type, else a view. */
function operandOf(plan: RunPlan, operand: PlannedOperand, ptr: DevicePtr): unknown {
  const { dtype, shape, strides, saysStrides, isGather } = operand;
  const isOwn = dtype === typeOf(plan, operand.name);
  if (isOwn && !saysStrides && !isGather) return ptr;
  return {
    ptr,
    ...(isGather ? { shape } : {}),
    ...(saysStrides ? { strides } : {}),
    ...(isOwn ? {} : { dtype }),
  };
}

function typeOf({ kernel }: RunPlan, name: string): DType | undefined {
  return [...kernel.inputs, ...kernel.outputs].find((operand) => operand.name === name)?.type;
}

import type { ComputeBackend, DevicePtr, OpCalls, OpName, OpShape, PlannedCall } from '@concord/backend-core';
import { planCall } from '@concord/backend-core/implement';
import type { Kernel } from '@concord/backend-core/kernel';
import { type KernelCall, type Launched, listeners } from '../tensor/listeners.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Every launch of a function of tensors is made by one of these three, so that listeners hear of it. */
export function launchOp<Op extends keyof OpCalls>(backend: ComputeBackend, op: Op, call: OpCalls[Op]): void {
  const launch = backend[op] as (call: OpCalls[Op]) => void;
  if (listeners.length === 0) launch.call(backend, call);
  else tell({ backend, op, call } as unknown as Launched, () => launch.call(backend, call));
}

/** Launches a kernel, as functions of tensors do: listeners hear of it. */
export function launchKernel(backend: ComputeBackend, kernel: Kernel, call: Omit<KernelCall, 'kernel'>): void {
  if (listeners.length === 0) backend.run(kernel, call);
  else tell({ backend, op: 'run', call: { ...call, kernel } }, () => backend.run(kernel, call));
}

/** A call without its addresses, as `planCall` makes it. */
export function plannedLaunch<Op extends OpName>(backend: ComputeBackend, op: Op, shape: OpShape<Op>): PlannedCall {
  const planned = planCall(backend, op, shape);
  return {
    operands: planned.operands,
    launch: (pointers, params) => {
      if (listeners.length === 0) return planned.launch(pointers, params);
      const call = placed(planned, shape, pointers, params);
      tell({ backend, op, call } as unknown as Launched, () => planned.launch(pointers, params));
    },
  };
}

function tell(launch: Launched, queue: () => void): void {
  const told = [...listeners];
  for (const listener of told) listener.launching(launch);
  queue();
  for (const listener of told) listener.launched(launch);
}

/** The whole call. */
function placed(
  { operands }: PlannedCall,
  shape: object,
  pointers: readonly DevicePtr[],
  params: readonly number[] = [],
) {
  let call = shape as Fields;
  for (const [index, name] of operands.entries()) {
    const path = name.startsWith('epilogue.') ? ['epilogue', 'inputs', name.slice('epilogue.'.length)] : pathOf(name);
    call = withPointer(call, path, pointers[index] as DevicePtr);
  }
  const epilogue = call['epilogue'] as (Fields & { readonly kernel: Kernel }) | undefined;
  const kernel = epilogue?.kernel ?? (call['kernel'] as Kernel | undefined);
  const values = Object.fromEntries((kernel?.params ?? []).map(({ name }, index) => [name, params[index]]));
  if (epilogue === undefined) return kernel === undefined ? call : { ...call, params: values };
  return { ...call, epilogue: { ...epilogue, params: values } };
}

/** `inputs.x`: names of kernels may have points themselves. */
function pathOf(name: string): readonly string[] {
  const [group = '', ...rest] = name.split('.');
  return rest.length === 0 ? [group] : [group, rest.join('.')];
}

function withPointer(fields: Fields, [name = '', ...rest]: readonly string[], ptr: DevicePtr): Fields {
  const isOperand = rest.length === 0;
  const held = fields[name];
  if (!isOperand) return { ...fields, [name]: withPointer((held ?? {}) as Fields, rest, ptr) };
  const isObject = typeof held === 'object' && held !== null;
  return { ...fields, [name]: isObject || OBJECTS.has(name) ? { ...(held as object), ptr } : ptr };
}

/** Operands of named ops that have a layout beside their address. */
const OBJECTS: ReadonlySet<string> = new Set(['mask', 'lengths', 'starts', 'lse', 'scales', 'zeros', 'offsets']);

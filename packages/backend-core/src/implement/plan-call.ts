import type { ComputeBackend, OpShape, PlannedCall } from '../contract/backend.ts';
import type { OpName } from '../contract/capabilities.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { readPointers } from './read-call.ts';
import type { Kernel, KernelInput } from '../kernel/graph.ts';
import { readParamList } from '../kernel/read-run-call.ts';
import { ACCUMULATOR, type EpilogueShape } from '../ops/epilogue.ts';
import { type DefinedOp, OPS } from '../ops/index.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * `backend.plan`, or for a backend without it what makes the whole call each time.
 *
 * @throws {BackendError} INVALID_ARGUMENT, UNSUPPORTED: of a backend without `plan`, when the call is launched
 */
export function planCall<Op extends OpName>(backend: ComputeBackend, op: Op, shape: OpShape<Op>): PlannedCall {
  if (backend.plan !== undefined) return backend.plan(op, shape);
  return op === 'run' ? wholeRun(backend, shape as OpShape<'run'>) : wholeCall(backend, op, shape as never);
}

function wholeRun(backend: ComputeBackend, { kernel, ...call }: OpShape<'run'>): PlannedCall {
  const inputs = kernel.inputs.map(({ name }) => name);
  const outputs = kernel.outputs.map(({ name }) => name);
  const names = [...inputs.map((name) => `inputs.${name}`), ...outputs.map((name) => `outputs.${name}`)];
  return {
    operands: names,
    launch(given, params = []) {
      const pointers = readPointers(names, given) as readonly DevicePtr[];
      backend.run(kernel, {
        ...call,
        inputs: withPointers(inputs, call.inputs, pointers),
        outputs: withPointers(outputs, call.outputs, pointers.slice(inputs.length)),
        params: byName(kernel, params),
      });
    },
  };
}

function wholeCall(backend: ComputeBackend, op: DefinedOp, shape: Fields): PlannedCall {
  const { mask, epilogue } = shape as { mask?: object; epilogue?: EpilogueShape };
  const { operands, output } = OPS[op];
  const outputs = operands.indexOf(output);
  const added = epilogue?.kernel.inputs.flatMap(({ name }: KernelInput) => (name === ACCUMULATOR ? [] : name)) ?? [];
  const names = [
    ...operands.slice(0, outputs),
    ...(mask === undefined ? [] : ['mask']),
    ...added.map((name) => `epilogue.${name}`),
    ...operands.slice(outputs),
  ];
  return {
    operands: names,
    launch(given, params = []) {
      const pointers = readPointers(names, given);
      const at = (name: string): DevicePtr => pointers[names.indexOf(name)] as DevicePtr;
      const call: Record<string, unknown> = { ...shape };
      for (const name of operands) call[name] = at(name);
      if (mask !== undefined) call['mask'] = { ...mask, ptr: at('mask') };
      if (epilogue === undefined) readParamList([], params);
      else {
        const own = added.map((name) => at(`epilogue.${name}`));
        const inputs = withPointers(added, epilogue.inputs, own);
        call['epilogue'] = { ...epilogue, inputs, params: byName(epilogue.kernel, params) };
      }
      (backend[op] as (call: unknown) => void)(call);
    },
  };
}

function withPointers(
  names: readonly string[],
  views: Fields | undefined,
  pointers: readonly DevicePtr[],
): Record<string, never> {
  const placed = names.map((name, index) => [name, { ...(views?.[name] as object | undefined), ptr: pointers[index] }]);
  return Object.fromEntries(placed) as Record<string, never>;
}

function byName({ params }: Kernel, values: readonly number[]): Record<string, number> {
  const checked = readParamList(params, values);
  return Object.fromEntries(params.map(({ name }, index) => [name, checked[index] as number]));
}

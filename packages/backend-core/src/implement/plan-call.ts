import type { ComputeBackend, OpShape, PlannedCall } from '../contract/backend.ts';
import { checkCallObject, checkOneOf } from '../contract/checks.ts';
import { OP_NAMES, type OpName } from '../contract/capabilities.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { annotate, toBackendError } from '../errors/backend-error.ts';
import { reading } from '../errors/reading.ts';
import { checkKernel } from '../kernel/check-kernel.ts';
import type { Kernel } from '../kernel/graph.ts';
import { readRun, viewsByName } from '../kernel/read-run-call.ts';
import { ReadEpilogue } from '../ops/epilogue.ts';
import { type DefinedOp, OPS } from '../ops/index.ts';
import { fieldsOf, pointerNames, readCall, readOperands } from './read-call.ts';

type Fields = Record<string, unknown>;

/**
 * `backend.plan`, or for a backend without it what makes the whole call each time.
 *
 * @throws {BackendError} INVALID_ARGUMENT, UNSUPPORTED: of a backend without `plan`, for what the op makes of the shape, when the call
 *   is launched
 */
export function planCall<Op extends OpName>(backend: ComputeBackend, op: Op, shape: OpShape<Op>): PlannedCall {
  if (backend.plan !== undefined) return backend.plan(op, shape);
  const named = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw annotate(toBackendError(error, 'INVALID_ARGUMENT'), { backend: backend.name, op });
    }
  };
  const { names, kernel, call } = named(() => (checkOneOf('op', op, OP_NAMES) === 'run' ? ofRun : ofOp)(op, shape));
  return {
    operands: names,
    launch(given, values = []) {
      const { pointers, numbers } = named(() => readOperands(names, given, kernel?.params ?? [], values));
      const params = Object.fromEntries((kernel?.params ?? []).map(({ name }, index) => [name, numbers[index]]));
      const at = (name: string): DevicePtr => pointers[names.indexOf(name)] as DevicePtr;
      call(backend, at, params);
    },
  };
}

/** What is known of a call without its pointers, and how it is made with them. */
interface WholeCall {
  readonly names: readonly string[];
  /** The one whose parameters it takes. */
  readonly kernel: Kernel | undefined;
  readonly call: (backend: ComputeBackend, at: (name: string) => DevicePtr, params: Fields) => void;
}

function ofRun(_op: OpName, shape: object): WholeCall {
  checkCallObject('run', shape);
  const kernel = reading('the kernel', () => checkKernel((shape as OpShape<'run'>).kernel));
  const read = reading('the shape', () => readRun(kernel, shape));
  const [inputs, outputs] = [viewsByName(kernel.inputs, read.inputs), viewsByName(kernel.outputs, read.outputs)];
  const nameOf = (what: string, { name }: { name: string }): string => `${what}.${name}`;
  const names = [
    ...kernel.inputs.map((each) => nameOf('inputs', each)),
    ...kernel.outputs.map((each) => nameOf('outputs', each)),
  ];
  const call: WholeCall['call'] = (backend, at, params) => {
    const placed = (what: string, declared: readonly { name: string }[], views: Fields): Record<string, never> =>
      Object.fromEntries(
        declared.map((each) => [each.name, { ...(views[each.name] as object), ptr: at(nameOf(what, each)) }]),
      ) as Record<string, never>;
    backend.run(kernel, {
      shape: read.shape,
      ...(read.folded === undefined ? {} : { folded: read.folded }),
      inputs: placed('inputs', kernel.inputs, inputs),
      outputs: placed('outputs', kernel.outputs, outputs),
      params: params as Record<string, number>,
    });
  };
  return { names, kernel, call };
}

function ofOp(op: OpName, shape: object): WholeCall {
  const own = op as DefinedOp;
  const read = readCall(own, shape, true);
  const names = pointerNames(own, read);
  const { epilogue, ...fields } = fieldsOf(own, read);
  const kernel = epilogue instanceof ReadEpilogue ? epilogue.kernel : undefined;
  const call: WholeCall['call'] = (backend, at, params) => {
    let whole: Fields = { ...fields };
    for (const name of names) {
      if (OPS[own].operands.includes(name)) whole[name] = at(name);
      else if (!name.startsWith('epilogue.')) whole = withPointer(whole, name.split('.'), at(name));
    }
    if (epilogue instanceof ReadEpilogue) {
      const layouts = viewsByName(epilogue.kernel.inputs, epilogue.inputs);
      const added = names.filter((name) => name.startsWith('epilogue.')).map((name) => name.slice('epilogue.'.length));
      const inputs = added.map((name) => [name, { ...layouts[name], ptr: at(`epilogue.${name}`) }]);
      whole['epilogue'] = { kernel, inputs: Object.fromEntries(inputs), params };
    }
    (backend[own] as (call: unknown) => void)(whole);
  };
  return { names, kernel, call };
}

/** A copy of a call with a pointer in one of its objects. */
function withPointer(fields: Fields, [name, ...rest]: readonly string[], ptr: DevicePtr): Fields {
  if (name === undefined) return { ...fields, ptr };
  return { ...fields, [name]: withPointer(fields[name] as Fields, rest, ptr) };
}

import type { ComputeBackend, DevicePtr, OpName, OpShape } from '@concord/backend-core';
import { type DefinedOp, OPS, planCall } from '@concord/backend-core/implement';
import type { Kernel } from '@concord/backend-core/kernel';
import { caseOf, type ConformanceCase, expectThat } from '../harness/case.ts';
import { expectThrows, needsOf, SAMPLE_CALLS, withOperands } from '../harness/planned-call.ts';
import { callSequenceCases } from '../sequences/call-sequences.ts';
import { runSequenceCases } from './run/sequences.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The backend, each of whose ops is planned without its pointers and then launched with them. */
function throughPlans(backend: ComputeBackend): ComputeBackend {
  const method = (name: string): unknown => {
    if (name === 'run') return (kernel: Kernel, call: Fields) => launch(backend, 'run', { kernel, ...call });
    if (Object.hasOwn(OPS, name)) return (call: Fields) => launch(backend, name as DefinedOp, call);
    const value: unknown = backend[name as keyof ComputeBackend];
    return typeof value === 'function' ? value.bind(backend) : value;
  };
  // Of nothing: a proxy may not give other methods than its target has.
  return new Proxy({} as ComputeBackend, { get: (_, name) => method(String(name)) });
}

/** Takes a call apart: its shape, and its addresses by the names that a plan gives its operands. */
function launch(backend: ComputeBackend, op: OpName, call: Fields): void {
  const shape: Record<string, unknown> = { ...call };
  const pointers = new Map<string, unknown>();
  const views = (prefix: string, record: Fields): Fields => {
    const placed = Object.entries(record).map(([name, operand]) => {
      const { ptr, ...view } = typeof operand === 'object' ? (operand as { ptr: DevicePtr }) : { ptr: operand };
      pointers.set(`${prefix}.${name}`, ptr);
      return [name, view];
    });
    return Object.fromEntries(placed) as Fields;
  };
  let values: Fields = {};
  let kernel: Kernel | undefined;
  if (op === 'run') {
    const { params = {}, inputs = {}, outputs = {} } = call as Record<string, Fields>;
    [kernel, values] = [call['kernel'] as Kernel, params];
    Object.assign(shape, { inputs: views('inputs', inputs), outputs: views('outputs', outputs), params: undefined });
  } else {
    for (const name of OPS[op].operands) {
      pointers.set(name, call[name]);
      delete shape[name];
    }
    const nested: Readonly<Record<string, readonly string[]>> = OPS[op].nested ?? {};
    const withoutPointers = (fields: Fields, path: string): Fields => {
      const entries = Object.entries(fields).map(([name, value]) => {
        if (nested[`${path}${name}`] === undefined || typeof value !== 'object' || value === null) return [name, value];
        const { ptr, ...view } = withoutPointers(value as Fields, `${path}${name}.`);
        if (ptr !== undefined) pointers.set(`${path}${name}`, ptr);
        return [name, view];
      });
      return Object.fromEntries(entries) as Fields;
    };
    Object.assign(shape, withoutPointers(shape, ''));
    const { epilogue } = call as { epilogue?: { kernel: Kernel } & Fields };
    if (epilogue !== undefined) {
      const { inputs = {}, params = {} } = epilogue as Record<string, Fields>;
      [kernel, values] = [epilogue.kernel, params];
      shape['epilogue'] = { kernel, inputs: views('epilogue', inputs) };
    }
  }
  const plan = planCall(backend, op, shape as unknown as OpShape);
  plan.launch(
    plan.operands.map((name) => pointers.get(name) as DevicePtr),
    kernel?.params.map(({ name }) => values[name] as number),
  );
}

/** Sequences of calls that differ in one field, a parameter or a layout, each call planned first. */
const sequences = [...callSequenceCases, ...runSequenceCases].filter(({ id }) =>
  /on the same pointers$|two calls that differ|parameters of .*i32/.test(id),
);
const planned: readonly ConformanceCase[] = sequences.map((each) => ({
  ...each,
  id: each.id.replace('/sequence/', '/planned/'),
  run: (context) => each.run({ ...context, backend: throughPlans(context.backend) }),
}));

const refusals: readonly ConformanceCase[] = SAMPLE_CALLS.map((sample) => {
  const { op, shape } = sample;
  const run: ConformanceCase['run'] = ({ backend }) =>
    withOperands(backend, sample, (_, pointers) => {
      const plan = planCall(backend, op, shape as unknown as OpShape);
      expectThat(plan.operands.length === sample.operands.length, `operands are ${plan.operands.join(', ')}`);
      const good = plan.operands.map((name) => pointers[name] as DevicePtr);
      const refuse = (given: readonly unknown[]): void => {
        expectThrows(op, { code: 'INVALID_ARGUMENT' }, () => plan.launch(given as DevicePtr[]));
      };
      const freed = backend.alloc(sample.operands[0]?.[1] ?? 4);
      backend.free(freed);
      const wrong = [good.slice(1), [-4, ...good.slice(1)], [freed, ...good.slice(1)]];
      for (const given of wrong) refuse(given);
      plan.launch(good);
      for (const given of wrong) refuse(given);
      refuse(good.map((ptr) => (ptr as number) + 4096));
      expectThrows(op, { code: 'INVALID_ARGUMENT' }, () => plan.launch(good, [1]));
      plan.launch(good);
    });
  return caseOf(`${op}/planned/refused at the launch`, op, run, needsOf(sample));
});

/** Calls in two steps: `plan`, then `launch`. */
export const plannedCallCases: readonly ConformanceCase[] = [...planned, ...refusals];

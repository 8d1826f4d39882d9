import type { ComputeBackend, PlannedCall, Recording } from '../contract/backend.ts';
import { OP_NAMES, type OpName } from '../contract/capabilities.ts';
import type { LaunchTrace, TracedLaunch } from '../contract/launch-trace.ts';
import { BackendError } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import { fieldsOf, readCall } from '../implement/read-call.ts';
import { checkKernel } from '../kernel/check-kernel.ts';
import type { Kernel } from '../kernel/graph.ts';
import { askedOf, readRun } from '../kernel/read-run-call.ts';
import { checkedRun } from '../kernel/same-run.ts';
import { OPS } from '../ops/index.ts';
import type { CheckedCall, DerivedDefinition } from '../ops/op-definition.ts';

type Methods = Record<string, ((...args: never[]) => unknown) | undefined>;
type Call = Pick<TracedLaunch, 'kernel' | 'call'>;

const tracedNow = new WeakSet<object>();

/**
 * Traces the launches of a backend without `traceLaunches`, by methods in the place of its own: calls, and what it
 * plans and records from now on. Only the host's time of them is known.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a second trace of one object; UNSUPPORTED for one that is frozen
 */
export function traceCalls(backend: ComputeBackend, onLaunch: (launch: TracedLaunch) => void): LaunchTrace {
  const methods = backend as unknown as Methods;
  if (!Object.isExtensible(methods)) {
    throw new BackendError('UNSUPPORTED', 'a frozen object that has no traceLaunches cannot be profiled');
  }
  if (tracedNow.has(methods)) throw invalid('the launches of this backend are traced already');
  let isInside = false;
  const timed = (op: TracedLaunch['op'], callOf: () => Call, work: () => void): void => {
    // A method that calls others is one launch.
    if (isInside) return work();
    const startMs = performance.now();
    isInside = true;
    try {
      work();
    } finally {
      isInside = false;
    }
    const hostMs = performance.now() - startMs;
    onLaunch({ op, ...callOf(), isReplay: op === 'replay', startMs, hostMs, isDone: false, passes: [] });
  };
  const own: Methods = {};
  const before: Methods = {};
  const wrap = (name: string, make: (original: (...args: unknown[]) => unknown) => (...args: never[]) => unknown) => {
    const original = methods[name] as ((...args: unknown[]) => unknown) | undefined;
    if (original === undefined) return;
    if (Object.hasOwn(methods, name)) before[name] = original as Methods[string];
    own[name] = make((...args) => original.apply(backend, args));
  };
  for (const op of OP_NAMES) {
    wrap(
      op,
      (original) =>
        (...args: unknown[]) =>
          timed(
            op,
            () => checkedCall(op, args, false),
            () => original(...args),
          ),
    );
  }
  wrap('plan', (original) => (op: OpName, shape: object) => {
    const plan = original(op, shape) as PlannedCall;
    const call = checkedCall(op, op === 'run' ? [(shape as { kernel: Kernel }).kernel, shape] : [shape], true);
    return {
      ...plan,
      launch: (...args: Parameters<typeof plan.launch>) =>
        timed(
          op,
          () => call,
          () => plan.launch(...args),
        ),
    };
  });
  wrap('record', (original) => (...args: unknown[]) => {
    const recording = original(...args) as Recording;
    return {
      replay: (operands?: never) =>
        timed(
          'replay',
          () => ({}),
          () => recording.replay(operands),
        ),
      dispose: () => recording.dispose(),
    };
  });
  Object.assign(methods, own);
  tracedNow.add(methods);
  return {
    stop: async () => {
      for (const [name, method] of Object.entries(own)) {
        if (methods[name] !== method) continue;
        delete methods[name];
        if (before[name] !== undefined) methods[name] = before[name];
      }
      tracedNow.delete(methods);
    },
  };
}

/** The checked form of a call that was accepted; nothing of one that cannot be read again. */
function checkedCall(op: OpName, args: readonly unknown[], isShape: boolean): Call {
  try {
    if (op === 'run') {
      const kernel = checkKernel(args[0]);
      return { kernel: 'run', call: checkedRun(kernel, askedOf(kernel, readRun(kernel, args[1]))) };
    }
    const definition = OPS[op];
    const call = definition.check(fieldsOf(op, readCall(op, args[0] as object, isShape)) as never, false);
    if (call === null) return {};
    if (definition.kernel !== 'run') return { kernel: definition.kernel, call };
    return { kernel: 'run', call: (definition as unknown as DerivedDefinition<object, CheckedCall>).asRun(call) };
  } catch {
    return {};
  }
}

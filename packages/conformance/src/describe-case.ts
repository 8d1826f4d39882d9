import type { ComputeBackend, OpName } from '@concord/backend-core';
import { type DefinedOp, OPS } from '@concord/backend-core/implement';
import { CpuBackend } from '@concord/backend-cpu';
import type { ConformanceCase, Needs } from './harness/case.ts';
import type { Params } from './harness/case-id.ts';
import type { CaseText } from './harness/case-text.ts';
import { sampleOf } from './harness/sample-calls.ts';
import { listenToOperands, type Slot } from './harness/workspace.ts';
import { runCase } from './run-case.ts';

/** One operand of a call, as the case made it. */
export interface OperandDescription {
  readonly name: string;
  readonly role: 'input' | 'output' | 'input and output';
  readonly dtype: 'f32' | 'f16';
  /** Gaps between rows and batches included. */
  readonly elements: number;
  /** Smallest and largest finite value before the call; null where there is none, and for an output. */
  readonly lowest: number | null;
  readonly highest: number | null;
  readonly nan: number;
  readonly infinite: number;
}

/** One call of an op that the case makes. */
export interface CallDescription {
  readonly op: OpName;
  /** The call without its operands. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Empty where the case lays its operands out by itself. */
  readonly operands: readonly OperandDescription[];
}

/** What a case does. */
export interface CaseDescription extends CaseText {
  readonly id: string;
  readonly op: string;
  readonly params: Params;
  readonly needs: Needs | null;
  /** What the random numbers start from. */
  readonly seed: string;
  /** The first of the calls that it makes. */
  readonly calls: readonly CallDescription[];
  readonly callCount: number;
}

/** Calls beyond these are only counted: they are mostly the same again. */
const MAX_CALLS = 4;

/**
 * Says what a case does: in the words that stand beside its check, and by running it on the CPU backend to see what it
 * calls with which operands.
 *
 * @throws {RangeError} for a case that no backend can pass, such as `unary/accuracy/fn=nonsense`
 */
export async function describeCase(testCase: ConformanceCase): Promise<CaseDescription> {
  const calls: CallDescription[] = [];
  let callCount = 0;
  const create = (): ComputeBackend => {
    const backend = new CpuBackend();
    recordCalls(backend, (makeCall) => {
      if (callCount++ < MAX_CALLS) calls.push(makeCall());
    });
    return backend;
  };
  const backend = create();
  await backend.init();
  const { status, detail } = await runCase(testCase, backend, create);
  await backend.dispose();
  if (status === 'failed') throw new RangeError(`${testCase.id} cannot pass: ${detail ?? ''}`);
  const { id, op, params, needs = null, about } = testCase;
  if (about === undefined) throw new Error(`${id} has no words`);
  return { id, op, params, needs, seed: id, ...about(), calls, callCount };
}

/** Sees every call of an op from outside; not those that the backend makes of itself. */
function recordCalls(backend: ComputeBackend, record: (makeCall: () => CallDescription) => void): void {
  let operands: readonly Slot[] = [];
  let isInside = false;
  listenToOperands(backend, (slots) => (operands = slots));
  for (const op of Object.keys(OPS) as DefinedOp[]) {
    const original = (backend[op] as (call: unknown) => void).bind(backend);
    Object.defineProperty(backend, op, {
      value: (call: unknown) => {
        if (isInside) return original(call);
        record(() => describeCall(op, call, operands));
        isInside = true;
        try {
          return original(call);
        } finally {
          isInside = false;
        }
      },
    });
  }
}

function describeCall(op: DefinedOp, call: unknown, slots: readonly Slot[]): CallDescription {
  if (typeof call !== 'object' || call === null) return { op, arguments: { call: plain(call) }, operands: [] };
  const names = sampleOf(op).operands.map(([name]) => name);
  const fields = Object.entries(call);
  const operands = fields.flatMap(([name, value]) => {
    const slot = names.includes(name) ? slots.find(({ ptr }) => ptr === value) : undefined;
    return slot === undefined ? [] : [describeOperand(name, slot)];
  });
  const rest = fields.filter(([name]) => !names.includes(name)).map(([name, value]) => [name, plain(value)]);
  return { op, arguments: Object.fromEntries(rest), operands };
}

function describeOperand(name: string, slot: Slot): OperandDescription {
  const values = slot.valuesBefore();
  let [lowest, highest, nan, infinite] = [Infinity, -Infinity, 0, 0];
  if (slot.isInput) {
    for (const value of values) {
      if (Number.isNaN(value)) nan++;
      else if (!Number.isFinite(value)) infinite++;
      else [lowest, highest] = [Math.min(lowest, value), Math.max(highest, value)];
    }
  }
  const isEmpty = lowest > highest;
  return {
    name,
    role: !slot.isInput ? 'output' : slot.isOutput ? 'input and output' : 'input',
    ...{ dtype: slot.dtype, elements: values.length },
    ...{ lowest: isEmpty ? null : lowest, highest: isEmpty ? null : highest, nan, infinite },
  };
}

/** Wrong arguments can be anything; what JSON has no word for becomes text. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  return value === undefined || typeof value === 'function' || typeof value === 'symbol' ? String(value) : value;
}

import { type ComputeBackend, type DType, OP_NAMES, type OpName } from '@concord/backend-core';
import type { Kernel } from '@concord/backend-core/kernel';
import { CpuBackend } from '@concord/backend-cpu';
import type { CaseText, ConformanceCase, Needs, Params } from './harness/case.ts';
import { sampleOf } from './harness/planned-call.ts';
import { type HeardOperand, listenToOperands } from './harness/workspace.ts';
import { nodeText } from './run/judge.ts';
import { runCase } from './run-conformance.ts';

/** One operand of a call, as the case made it. */
export interface OperandDescription {
  readonly name: string;
  readonly role: 'input' | 'output' | 'input and output';
  readonly dtype: DType;
  /** Gaps between rows and batches included. */
  readonly elements: number;
  /** Smallest and largest finite value before the call; null if there is none, and for an output. */
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

/** The description of a case. */
export interface CaseDescription extends CaseText {
  readonly id: string;
  readonly op: string;
  readonly params: Params;
  readonly needs: Pick<Needs, 'op' | 'dtype'> | null;
  /** The seed of the random numbers. */
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
  const { id, op, params, about } = testCase;
  const needs = testCase.needs === undefined ? null : { op: testCase.needs.op, dtype: testCase.needs.dtype };
  if (about === undefined) throw new Error(`${id} has no words`);
  return { id, op, params, needs, seed: id, ...about(), calls, callCount };
}

/** Sees every call of an op from outside; not those that the backend makes of itself. */
function recordCalls(backend: ComputeBackend, record: (makeCall: () => CallDescription) => void): void {
  let operands: readonly HeardOperand[] = [];
  let isInside = false;
  listenToOperands(backend, (slots) => (operands = slots));
  // A call in two steps is told as the whole call that it is.
  Object.defineProperty(backend, 'plan', { value: undefined });
  for (const op of OP_NAMES) {
    const original = (backend[op] as (...given: unknown[]) => void).bind(backend);
    Object.defineProperty(backend, op, {
      value: (...given: unknown[]) => {
        if (isInside) return original(...given);
        record(() => describeCall(op, given, operands));
        isInside = true;
        try {
          return original(...given);
        } finally {
          isInside = false;
        }
      },
    });
  }
}

function describeCall(op: OpName, given: readonly unknown[], heard: readonly HeardOperand[]): CallDescription {
  if (op === 'run') return describeRun(given, heard);
  const [call] = given;
  if (typeof call !== 'object' || call === null) return { op, arguments: { call: plain(call) }, operands: [] };
  const names = sampleOf(op).operands.map(([name]) => name);
  const fields = Object.entries(call);
  const operands = fields.flatMap(([name, value]) => {
    const slot = names.includes(name) ? heard.find(({ ptr }) => ptr === value) : undefined;
    return slot === undefined ? [] : [describeOperand(name, slot)];
  });
  const rest = fields.filter(([name]) => !names.includes(name)).map(([name, value]) => [name, plain(value)]);
  return { op, arguments: Object.fromEntries(rest), operands };
}

/** A call of a kernel: what is stored stands for the kernel, and each view is told without its pointer. */
function describeRun([kernel, call]: readonly unknown[], heard: readonly HeardOperand[]): CallDescription {
  const { name, nodes, outputs } = (kernel ?? {}) as Partial<Kernel>;
  if (nodes === undefined || outputs === undefined || typeof call !== 'object' || call === null) {
    return { op: 'run', arguments: { kernel: plain(name), call: plain(call) }, operands: [] };
  }
  const stored = outputs.map((output) => [output.name, nodeText(kernel as Kernel, output.node)]);
  const fields = Object.entries(call).map(([field, value]) => [
    field,
    field === 'inputs' || field === 'outputs' ? withoutPointers(value as object) : plain(value),
  ]);
  return {
    op: 'run',
    arguments: { kernel: name, nodes: nodes.length, stored: Object.fromEntries(stored), ...Object.fromEntries(fields) },
    operands: heard.map((operand) => describeOperand(operand.name ?? '', operand)),
  };
}

/** The views of a call's operands by name. */
function withoutPointers(operands: object): Record<string, unknown> {
  const views = Object.entries(operands ?? {}).map(([name, value]) => {
    if (typeof value !== 'object' || value === null) return [name, 'dense'];
    const { ptr: _, ...view } = value as Record<string, unknown>;
    return [name, view];
  });
  return Object.fromEntries(views);
}

function describeOperand(name: string, slot: HeardOperand): OperandDescription {
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

import {
  type ComputeBackend,
  type DevicePtr,
  type ErrorCode,
  type FloatDType,
  isBackendError,
  NULL_PTR,
  type OpName,
} from '@concord/backend-core';
import { BYTES_OF, type DefinedOp, type FieldKind, OPS } from '@concord/backend-core/implement';
import { compareBytes } from '../checks/compare.ts';
import { type CaseContext, CaseFailure, type Check, type Needs, type Params } from './case.ts';
import { Random } from './random.ts';
import { type Slots, Workspace } from './workspace.ts';

/** The text of an expected refusal. */
export interface ExpectedError {
  readonly code: ErrorCode;
  /** The exact `detail`, or a pattern for it. */
  readonly detail?: string | RegExp;
}

/** @throws {CaseFailure} unless `call` throws the expected error, at once */
export function expectThrows(what: string, expected: ExpectedError, call: () => unknown): void {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    judge(what, expected, error);
    return;
  }
  // A promise here would go unhandled.
  if (result instanceof Promise) result.catch(() => undefined);
  throw new CaseFailure(`${what}: accepted, want ${describe(expected)}`);
}

/** @throws {CaseFailure} unless `call` returns a promise that rejects with the expected error */
export async function expectRejects(
  what: string,
  expected: ExpectedError,
  call: () => Promise<unknown>,
): Promise<void> {
  let promise: Promise<unknown>;
  try {
    promise = call();
  } catch (error) {
    throw new CaseFailure(`${what}: threw ${String(error)}; a method that returns a promise must reject`);
  }
  try {
    await promise;
  } catch (error) {
    judge(what, expected, error);
    return;
  }
  throw new CaseFailure(`${what}: accepted, want ${describe(expected)}`);
}

function judge(what: string, expected: ExpectedError, error: unknown): void {
  const { code, detail } = expected;
  const got = isBackendError(error)
    ? `${error.code} "${error.detail}"`
    : `${String(error)}, which is not a BackendError`;
  const hasCode = isBackendError(error, code);
  const text = hasCode ? error.detail : '';
  const fits = detail === undefined || (typeof detail === 'string' ? text === detail : detail.test(text));
  if (!hasCode || !fits) throw new CaseFailure(`${what}: got ${got}, want ${describe(expected)}`);
}

function describe({ code, detail }: ExpectedError): string {
  return detail === undefined ? code : `${code} "${String(detail)}"`;
}

/** A small valid call of an op, and how many bytes each operand has. */
export interface SampleCall {
  readonly op: DefinedOp;
  /** Operand name and size in bytes, outputs last. */
  readonly operands: readonly (readonly [name: string, bytes: number])[];
  /** The call without its pointers. */
  readonly shape: Readonly<Record<string, unknown>>;
  /** Names of the fields that are sizes. */
  readonly sizes: readonly string[];
  /** Names of the fields that take one of a list of words. */
  readonly words: readonly string[];
  /** Names of the fields that are true or false. */
  readonly flags: readonly string[];
  /** Changes after which nothing is written. */
  readonly nothingToDo: readonly Readonly<Record<string, unknown>>[];
}

/** One valid call per op. */
export const SAMPLE_CALLS: readonly SampleCall[] = (Object.keys(OPS) as DefinedOp[]).map(sampleOf);

/** The sample call of an op. */
export function sampleOf(op: DefinedOp): SampleCall {
  const definition = OPS[op];
  const { fields, sample } = definition;
  const checked = definition.check(sample.shape as never, false);
  if (checked === null) throw new Error(`the sample call of ${op} does nothing`);
  const named = (kind: FieldKind): string[] =>
    Object.entries(fields).flatMap(([name, own]) => (own === kind ? name : []));
  return {
    op,
    operands: checked.operands.map(({ name, elements, dtype }) => [name, elements * BYTES_OF[dtype]]),
    shape: { ...sample.shape },
    sizes: named('size'),
    words: named('word'),
    flags: named('boolean'),
    nothingToDo: sample.nothingToDo.map((change) => ({ ...change })),
  };
}

/** The requirements of a sample call on a backend. */
export function needsOf({ op }: Pick<SampleCall, 'op'>): Needs & { readonly dtype: FloatDType } {
  return { op, dtype: OPS[op].dtypes[0] as FloatDType, shape: sampleOf(op).shape };
}

/** Calls an op with whatever is given: what a JavaScript program without types could do. */
export function callOp(backend: ComputeBackend, op: DefinedOp, call: unknown): void {
  (backend[op] as (call: unknown) => void)(call);
}

/** The call with null pointers. */
export function withNullPointers({ shape, operands }: SampleCall): Record<string, unknown> {
  return { ...shape, ...Object.fromEntries(operands.map(([name]) => [name, NULL_PTR])) };
}

/** Stands for an operand of a call that is refused: none gets as far as looking at it. */
export const SOME_POINTER: DevicePtr = 256 as DevicePtr;

/**
 * A call that is to be refused for its shape.
 *
 * @param shape - all of the call without its pointers; where that leaves nothing to do, which is never refused, the sample
 *   call takes its place
 */
export function callToRefuse(op: DefinedOp, shape: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const definition = OPS[op];
  const doesNothing = definition.check(shape as never, false) === null;
  const whole = doesNothing ? { ...definition.sample.shape, dtype: shape['dtype'] } : shape;
  return {
    ...withViews(whole, definition.nested ?? {}),
    ...Object.fromEntries(definition.operands.map((name) => [name, SOME_POINTER])),
  };
}

/** A shape whose objects have the pointers that a call gives in them. */
function withViews(
  fields: Readonly<Record<string, unknown>>,
  nested: Readonly<Record<string, readonly string[]>>,
  path = '',
): Record<string, unknown> {
  const placed = Object.entries(fields).map(([name, value]) => {
    const own = nested[`${path}${name}`];
    if (own === undefined || typeof value !== 'object' || value === null) return [name, value];
    const inner = withViews(value as Record<string, unknown>, nested, `${path}${name}.`);
    return [name, own.includes('ptr') ? { ...inner, ptr: SOME_POINTER } : inner];
  });
  return Object.fromEntries(placed) as Record<string, unknown>;
}

/** Allocates the operands of a sample call, runs `use` with the complete call, and frees them. */
export async function withOperands(
  backend: ComputeBackend,
  { shape, operands }: SampleCall,
  use: (call: Record<string, unknown>, pointers: Record<string, DevicePtr>) => Promise<void> | void,
): Promise<void> {
  const pointers: Record<string, DevicePtr> = {};
  try {
    for (const [name, bytes] of operands) {
      pointers[name] = backend.alloc(bytes);
      backend.fill(pointers[name], 0, bytes);
    }
    await use({ ...shape, ...pointers }, pointers);
  } finally {
    for (const pointer of Object.values(pointers)) backend.free(pointer);
  }
}

/** The pointers of a sample call. */
export type Pointers = Readonly<Record<string, DevicePtr>>;

/** The name of a sample call's output. */
export const outputOf = ({ operands }: SampleCall): string => (operands.at(-1) as readonly [string, number])[0];

/** Makes a changed sample call and sees that it leaves the output alone; `expected` undefined: that it is accepted. */
export async function expectUntouched(
  backend: ComputeBackend,
  sample: SampleCall,
  change: (pointers: Pointers) => Readonly<Record<string, unknown>>,
  expected?: ExpectedError,
): Promise<void> {
  await withOperands(backend, sample, async (call, pointers) => {
    const { op } = sample;
    const [name, bytes] = sample.operands.at(-1) as readonly [string, number];
    const output = pointers[name] as DevicePtr;
    const before = Uint8Array.from({ length: bytes }, (_, i) => (i * 29 + 7) & 255);
    backend.copyHtod(output, before);
    const changed = { ...call, ...change(pointers) };
    if (expected === undefined) callOp(backend, op, changed);
    else expectThrows(op, expected, () => callOp(backend, op, changed));
    const after = new Uint8Array(bytes);
    await backend.copyDtoh(after, output);
    compareBytes(`${name} after the call`, after, before);
  });
}

/** A call whose operands have been made: it can be made once they are placed, and judged when they were read back. */
export interface PlannedCall {
  readonly op: OpName;
  /** The call without its pointers: what `supports` is asked. */
  readonly shape: Readonly<Record<string, unknown>>;
  call(): void;
  /** @throws {CaseFailure} where a result is wrong */
  judge(): void;
}

/** Makes the operands of a call. */
export type PlanCall<P extends Params> = (slots: Slots, context: CaseContext, params: P) => PlannedCall;

/** Parameters that say how the operands of a call lie. */
type PlacedParams = Params & { readonly offset: number; readonly together: boolean };

/** Makes one planned call. */
export async function makePlanned<P extends PlacedParams>(
  context: CaseContext,
  params: P,
  plan: PlanCall<P>,
): Promise<{ readonly planned: PlannedCall; readonly slots: Slots }> {
  const { offset: offsetBytes, together } = params;
  const slots = new Workspace(context.backend, { offsetBytes, together });
  const planned = plan(slots, context, params);
  await slots.run(() => planned.call());
  return { planned, slots };
}

/** Makes one planned call and judges it. */
export function checkPlanned<P extends PlacedParams>(plan: PlanCall<P>): Check<P> {
  return async (context, params) => (await makePlanned(context, params, plan)).planned.judge();
}

/** The same call twice gives the same bits. */
export function checkRepeat<P extends PlacedParams>(plan: PlanCall<P>): Check<P> {
  return async (context, params) => {
    const seed = String(context.random.uint32());
    const outputs = async (): Promise<readonly Uint8Array[]> => {
      const { slots } = await makePlanned({ ...context, random: new Random(seed) }, params, plan);
      return slots.all.flatMap(({ isOutput, after }) => (isOutput ? [after] : []));
    };
    const first = await outputs();
    for (const [index, after] of (await outputs()).entries()) {
      compareBytes('second of two equal calls', after, first[index] as Uint8Array);
    }
  };
}

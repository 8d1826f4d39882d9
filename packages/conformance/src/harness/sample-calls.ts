import { type ComputeBackend, type DevicePtr, type FloatDType, NULL_PTR } from '@concord/backend-core';
import { BYTES_OF, type DefinedOp, type FieldKind, OPS } from '@concord/backend-core/implement';
import { compareBytes } from '../checks/compare.ts';
import type { Needs } from './case.ts';
import { type ExpectedError, expectThrows } from './expect-error.ts';

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

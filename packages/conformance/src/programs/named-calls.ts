import type { ComputeBackend, DevicePtr } from '@concord/backend-core';
import { type DefinedOp, OPS } from '@concord/backend-core/implement';
import type { PlannedEpilogue } from '../epilogue/planned-epilogue.ts';
import type { CaseContext } from '../harness/case.ts';
import { Slot } from '../harness/slot.ts';
import { bytesOf } from '../run/storage.ts';
import { inOrder, isFloat, plainValues } from './expected.ts';
import type { Expected, ProgramCall, ProgramOperand } from './program-call.ts';
import type { WriteData } from './write-data.ts';

/** What a named op's call is made of, beyond what its definition says. */
export interface NamedCall {
  readonly op: DefinedOp;
  /** The call without its pointers. */
  readonly shape: Readonly<Record<string, unknown>>;
  /** The operand in whose place the output is. */
  readonly inPlaceOf?: string | undefined;
  /** An output that is read too. */
  readonly updates?: string;
  readonly epilogue?: PlannedEpilogue | undefined;
  /** Distances of the elements that are written, of the op's own output, where it has gaps. */
  readonly writes?: ArrayLike<number>;
  /** The result may tell a zero from a negative one: not judged where the sign of one is open. */
  readonly seesSign?: boolean;
  /** Contents that suit operands of floating-point numbers. Default: small. */
  readonly data?: WriteData;
  /** The pointers as the call has them. Default: by their names. */
  readonly place?: (pointers: Readonly<Record<string, DevicePtr>>) => object;
  /** Whether the oracle has an answer for the values, also for an epilogue. Default: it has. */
  readonly answers?: (values: Values) => boolean;
  /** Undefined where the oracle has no answer for the values. */
  evaluate(backend: ComputeBackend, values: Values): Readonly<Record<string, Expected>> | undefined;
  /** The result before the epilogue, and its bound. */
  readonly accumulate?: (values: Values) => {
    readonly value: ArrayLike<number>;
    readonly bound: (index: number) => number;
  };
}

/** The values of the operands that are read, by name. */
export type Values = Readonly<Record<string, Float64Array>>;

/** The call of a named op, whose operands the op's own definition lays out. */
export function namedCall(named: NamedCall): ProgramCall {
  const { op, shape: plain, epilogue, inPlaceOf, data = 'small', place = (own) => own } = named;
  const shape = epilogue === undefined ? plain : { ...plain, epilogue: epilogue.shape };
  const checked = OPS[op].check(shape as never, false);
  if (checked === null) throw new RangeError(`this ${op} does nothing`);
  const regions: number[] = [];
  const operands = checked.operands.map(({ name, dtype, elements, output = false }): ProgramOperand => {
    const shared = output && inPlaceOf !== undefined ? checked.operands.findIndex((x) => x.name === inPlaceOf) : -1;
    const region = shared < 0 ? regions.push(elements * bytesOf(dtype)) - 1 : shared;
    const reads = !output || named.updates === name;
    const own = name === OPS[op].output ? named.writes : undefined;
    const writes = output ? (own ?? inOrder(elements)) : undefined;
    return { name, dtype, elements, region, at: 0, reads, writes, data: isFloat(dtype) ? data : 'bits' };
  });
  const read = operands.filter(({ reads }) => reads);
  return {
    op,
    shape,
    regions,
    operands,
    argumentsOf: (ptrOf) => {
      const pointers = new Map(operands.map(({ name }, index) => [name, ptrOf(index)]));
      const own = [...pointers].filter(([name]) => !name.startsWith('epilogue.'));
      const ofEpilogue = (name: string): DevicePtr => pointers.get(`epilogue.${name}`) as DevicePtr;
      return [
        {
          ...plain,
          ...place(Object.fromEntries(own) as Record<string, DevicePtr>),
          ...(epilogue === undefined ? {} : { epilogue: epilogue.call(ofEpilogue) }),
        },
      ];
    },
    evaluate: (backend, bytes, hasLooseZeros) => {
      if (hasLooseZeros && named.seesSign === true) return undefined;
      const entries = read.map(
        ({ name, dtype }, index) => [name, plainValues(dtype, bytes[index] as Uint8Array)] as const,
      );
      if (entries.some(([, found]) => found === undefined)) return undefined;
      const values = Object.fromEntries(entries) as Record<string, Float64Array>;
      if (named.answers?.(values) === false) return undefined;
      if (epilogue !== undefined) return [judgedEpilogue(named, epilogue, { backend, operands, bytes, values })];
      const expected = named.evaluate(backend, values);
      if (expected === undefined) return undefined;
      return operands.flatMap(({ name, writes }) => (writes === undefined ? [] : [expected[name] as Expected]));
    },
  };
}

interface Evaluated {
  readonly backend: ComputeBackend;
  readonly operands: readonly ProgramOperand[];
  readonly bytes: readonly Uint8Array[];
  readonly values: Values;
}

/** What an epilogue makes of a result is judged, and not known. */
function judgedEpilogue(
  { accumulate }: NamedCall,
  epilogue: PlannedEpilogue,
  { backend, operands, bytes, values }: Evaluated,
): Expected {
  const output = operands.at(-1) as ProgramOperand;
  const read = operands.filter(({ reads }) => reads);
  const inputs = read.flatMap(({ name, dtype }, index) =>
    name.startsWith('epilogue.')
      ? [[name.slice('epilogue.'.length), new Slot((bytes[index] as Uint8Array).slice(), dtype, true, false)] as const]
      : [],
  );
  const context = { backend, tally: { elements: 0, loose: 0 } } as CaseContext;
  return {
    bitsOf: () => undefined,
    judge: (after) => {
      const slot = new Slot(new Uint8Array(after.length), output.dtype, false, true);
      slot.after = after;
      const { value, bound } = (accumulate as NonNullable<typeof accumulate>)(values);
      epilogue.check(context, slot, Object.fromEntries(inputs), value, bound);
    },
  };
}

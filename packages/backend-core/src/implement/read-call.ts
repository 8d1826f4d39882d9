import { checkCallObject, checkPointerType } from '../contract/checks.ts';
import { checkFields } from '../contract/fields.ts';
import { invalid } from '../errors/invalid.ts';
import { type CheckedEpilogue, type Epilogue, EpilogueOnce, readEpilogue } from '../ops/epilogue.ts';
import { type DefinedOp, OPS } from '../ops/index.ts';
import type { CheckedCall } from '../ops/op-definition.ts';

type Fields = Record<string, unknown>;

/** A call that something is to be done for, with the addresses that it names. */
export interface ReadCall {
  readonly checked: CheckedCall;
  readonly pointers: Readonly<Record<string, number>>;
}

/**
 * All that is read of a call, checked but for the memory behind its pointers; null where nothing is to be done.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function readCall(op: DefinedOp, call: object): ReadCall | null {
  const definition = OPS[op];
  const own = readFields(op, call);
  for (const name of definition.operands) checkPointerType(name, own[name]);
  const epilogue = own['epilogue'] as Epilogue | undefined;
  if (epilogue !== undefined) own['epilogue'] = new EpilogueOnce(epilogue);
  const checked: CheckedCall | null = definition.check(own as never, own[definition.output] === 0);
  if (checked === null) {
    pointersOf(own, readEpilogue(own['epilogue'] as EpilogueOnce | undefined));
    return null;
  }
  return { checked, pointers: pointersOf(own, (checked as { epilogue?: CheckedEpilogue }).epilogue) };
}

/**
 * The fields of a call, each read once: what is checked is what is used.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a field that the op does not have
 */
export function readFields(op: DefinedOp, call: object): Fields {
  checkCallObject(op, call);
  const { fields, operands } = OPS[op];
  const names = FIELD_NAMES[op] ?? (FIELD_NAMES[op] = [...operands, ...Object.keys(fields)]);
  checkFields(op, call, names);
  const own: Fields = {};
  for (const name of names) own[name] = (call as Fields)[name];
  return own;
}

const FIELD_NAMES: { [Op in DefinedOp]?: readonly string[] } = {};

/**
 * The address of each operand of a call, by its name.
 *
 * @throws {BackendError} INVALID_ARGUMENT for those of a mask or an epilogue that are missing, or parameters that are
 */
function pointersOf(
  own: Fields,
  epilogue: Pick<CheckedEpilogue, 'kernel' | 'pointers' | 'params'> | undefined,
): Readonly<Record<string, number>> {
  if (epilogue !== undefined) {
    const { kernel, pointers, params } = epilogue;
    for (let index = 0; index < pointers.length; index++) {
      const name = kernel.inputs[index]?.name;
      if (name === 'acc') continue;
      checkPointerType(`epilogue.${name}`, pointers[index]);
      own[`epilogue.${name}`] = pointers[index];
    }
    if (params.length < kernel.params.length) throw invalid('epilogue.params must be given');
  }
  if (own['mask'] !== undefined) {
    own['mask'] = (own['mask'] as { ptr?: unknown }).ptr;
    checkPointerType('mask', own['mask']);
  }
  return own as Readonly<Record<string, number>>;
}

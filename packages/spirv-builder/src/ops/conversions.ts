import type { FunctionBody } from '../function-body.ts';
import { Op } from '../generated/spirv.ts';
import { expectKind, expectType, mapRows } from '../operand-checks.ts';
import { componentOf, nameOf, type Type } from '../type.ts';
import type { Value } from '../value.ts';

/** Numbers of one type as numbers of another, of as many components. */
export interface ConversionOps {
  /** An integer, widened with zeros or cut off. */
  uconvert(a: Value, to: Type): Value;
  /** An integer, widened with the sign or cut off. */
  sconvert(a: Value, to: Type): Value;
  /** The nearest float of another width, ties to even. */
  fconvert(a: Value, to: Type): Value;
  /** Unsigned integer to the nearest float. */
  utof(a: Value, to: Type): Value;
  /** Signed integer to the nearest float. */
  stof(a: Value, to: Type): Value;
  /** Float to unsigned integer, towards zero; undefined where that does not fit. */
  ftou(a: Value, to: Type): Value;
  /** Float to signed integer, towards zero; undefined where that does not fit. */
  ftos(a: Value, to: Type): Value;
  /** The same bits as another type of the same size, or a pointer to another type. */
  bitcast(a: Value, to: Type): Value;
}

interface Conversion {
  readonly op: Op;
  readonly from: Type['kind'];
  readonly to: Type['kind'];
}

const CONVERSIONS = {
  uconvert: { op: Op.UConvert, from: 'int', to: 'int' },
  sconvert: { op: Op.SConvert, from: 'int', to: 'int' },
  fconvert: { op: Op.FConvert, from: 'float', to: 'float' },
  utof: { op: Op.ConvertUToF, from: 'int', to: 'float' },
  stof: { op: Op.ConvertSToF, from: 'int', to: 'float' },
  ftou: { op: Op.ConvertFToU, from: 'float', to: 'int' },
  ftos: { op: Op.ConvertFToS, from: 'float', to: 'int' },
} satisfies Record<string, Conversion>;

/** Conversions in a function. */
export function conversionOps(body: FunctionBody): ConversionOps {
  return {
    ...mapRows(CONVERSIONS, (name, { op, from, to: target }: Conversion) => (a: Value, to: Type) => {
      expectKind(body, body.use(a, name, 'operand'), [from], name);
      expectType(body, to, name);
      const counts = [a.type, to].map((type) => (type.kind === 'vector' ? type.count : 1));
      if (componentOf(to).kind !== target || counts[0] !== counts[1]) {
        throw body.error(name, `${nameOf(a.type)} cannot become ${nameOf(to)}`);
      }
      // Conversions between equal types are not valid, and nothing to do.
      return a.type === to ? a : body.emit(op, to, a.id);
    }),
    bitcast: (a, to) => {
      const { type } = body.use(a, 'bitcast', 'operand');
      if (type === to) return a;
      expectType(body, to, 'bitcast');
      const isPointer = type.kind === 'pointer';
      if (isPointer && to.kind === 'pointer' && type.storage !== to.storage) {
        throw body.error('bitcast', 'a pointer to one memory cannot be seen as one to another');
      }
      if (bitsOf(type) === undefined || bitsOf(type) !== bitsOf(to) || isPointer !== (to.kind === 'pointer')) {
        throw body.error('bitcast', `${nameOf(a.type)} cannot be seen as ${nameOf(to)}`);
      }
      return body.emit(Op.Bitcast, to, a.id);
    },
  };
}

/** Bits of a value, for comparing sizes; pointers count as one size. Undefined if there are none to cast. */
function bitsOf(type: Type): number | undefined {
  switch (type.kind) {
    case 'int':
    case 'float':
      return type.width;
    case 'vector': {
      const component = bitsOf(type.component);
      return component === undefined ? undefined : component * type.count;
    }
    case 'pointer':
      return 64;
    default:
      return undefined;
  }
}

import { BlockBuilder } from './block-builder.ts';
import { Op } from './generated/opcodes.ts';
import { OpenCl } from './generated/open-cl.ts';
import { MATH, type MathFunction } from './math-functions.ts';
import { componentOf, nameOf, type Type, type VectorType } from './type.ts';
import type { Operand, Value } from './value.ts';

/** Instructions from values to values. Operands have one type, scalar or vector; a literal takes that of the other. */
export abstract class ArithmeticBuilder extends BlockBuilder {
  /** a + b, of integers (modulo 2^width) or floats. */
  add(a: Operand, b: Operand): Value {
    return this.#either('add', Op.IAdd, Op.FAdd, a, b);
  }
  sub(a: Operand, b: Operand): Value {
    return this.#either('sub', Op.ISub, Op.FSub, a, b);
  }
  mul(a: Operand, b: Operand): Value {
    return this.#either('mul', Op.IMul, Op.FMul, a, b);
  }
  neg(a: Value): Value {
    return this.#unary('neg', { int: Op.SNegate, float: Op.FNegate }, a);
  }
  /** a / b of floats. */
  div(a: Operand, b: Operand): Value {
    return this.#binary('div', Op.FDiv, a, b, ['float']);
  }
  /** The remainder of floats, with the sign of a. */
  rem(a: Operand, b: Operand): Value {
    return this.#binary('rem', Op.FRem, a, b, ['float']);
  }
  /** a / b of unsigned integers; undefined for b = 0. */
  udiv(a: Operand, b: Operand): Value {
    return this.#binary('udiv', Op.UDiv, a, b, ['int']);
  }
  sdiv(a: Operand, b: Operand): Value {
    return this.#binary('sdiv', Op.SDiv, a, b, ['int']);
  }
  umod(a: Operand, b: Operand): Value {
    return this.#binary('umod', Op.UMod, a, b, ['int']);
  }
  /** The remainder of signed integers, with the sign of a. */
  srem(a: Operand, b: Operand): Value {
    return this.#binary('srem', Op.SRem, a, b, ['int']);
  }

  /** Bits of integers, or truth values. */
  and(a: Operand, b: Operand): Value {
    return this.#logical('and', Op.BitwiseAnd, Op.LogicalAnd, a, b);
  }
  or(a: Operand, b: Operand): Value {
    return this.#logical('or', Op.BitwiseOr, Op.LogicalOr, a, b);
  }
  xor(a: Operand, b: Operand): Value {
    const [x, y] = this.pair(a, b, 'xor');
    this.expectKind(x, ['int', 'bool'], 'xor');
    return isTruth(x) ? this.#differ(x, y) : this.emit(Op.BitwiseXor, x.type, x.id, y.id);
  }
  not(a: Value): Value {
    this.expectKind(this.use(a, 'not', 'operand'), ['int', 'bool'], 'not');
    return isTruth(a) ? this.#opposite(a) : this.emit(Op.Not, a.type, a.id);
  }
  /** Shifts left. A shift by the width or more is undefined. */
  shl(a: Operand, bits: Operand): Value {
    return this.#binary('shl', Op.ShiftLeftLogical, a, bits, ['int']);
  }
  /** Shifts right and fills with zeros. */
  lshr(a: Operand, bits: Operand): Value {
    return this.#binary('lshr', Op.ShiftRightLogical, a, bits, ['int']);
  }
  /** Shifts right and fills with the sign. */
  ashr(a: Operand, bits: Operand): Value {
    return this.#binary('ashr', Op.ShiftRightArithmetic, a, bits, ['int']);
  }

  /** Equal. NaN equals nothing. */
  eq(a: Operand, b: Operand): Value {
    const [x, y] = this.#comparable('eq', a, b);
    if (isTruth(x)) return this.#opposite(this.#differ(x, y));
    return this.emit(componentOf(x.type).kind === 'int' ? Op.IEqual : Op.FOrdEqual, this.boolLike(x.type), x.id, y.id);
  }
  /** Not equal. NaN differs from everything. */
  ne(a: Operand, b: Operand): Value {
    const [x, y] = this.#comparable('ne', a, b);
    if (isTruth(x)) return this.#differ(x, y);
    const isInt = componentOf(x.type).kind === 'int';
    return this.emit(isInt ? Op.INotEqual : Op.FUnordNotEqual, this.boolLike(x.type), x.id, y.id);
  }
  /** a < b of floats; false for NaN. */
  lt(a: Operand, b: Operand): Value {
    return this.#compare('lt', Op.FOrdLessThan, a, b, 'float');
  }
  le(a: Operand, b: Operand): Value {
    return this.#compare('le', Op.FOrdLessThanEqual, a, b, 'float');
  }
  gt(a: Operand, b: Operand): Value {
    return this.#compare('gt', Op.FOrdGreaterThan, a, b, 'float');
  }
  ge(a: Operand, b: Operand): Value {
    return this.#compare('ge', Op.FOrdGreaterThanEqual, a, b, 'float');
  }
  /** a < b of unsigned integers. */
  ult(a: Operand, b: Operand): Value {
    return this.#compare('ult', Op.ULessThan, a, b, 'int');
  }
  ule(a: Operand, b: Operand): Value {
    return this.#compare('ule', Op.ULessThanEqual, a, b, 'int');
  }
  ugt(a: Operand, b: Operand): Value {
    return this.#compare('ugt', Op.UGreaterThan, a, b, 'int');
  }
  uge(a: Operand, b: Operand): Value {
    return this.#compare('uge', Op.UGreaterThanEqual, a, b, 'int');
  }
  /** a < b of signed integers. */
  slt(a: Operand, b: Operand): Value {
    return this.#compare('slt', Op.SLessThan, a, b, 'int');
  }
  sle(a: Operand, b: Operand): Value {
    return this.#compare('sle', Op.SLessThanEqual, a, b, 'int');
  }
  sgt(a: Operand, b: Operand): Value {
    return this.#compare('sgt', Op.SGreaterThan, a, b, 'int');
  }
  sge(a: Operand, b: Operand): Value {
    return this.#compare('sge', Op.SGreaterThanEqual, a, b, 'int');
  }
  isNan(a: Value): Value {
    this.expectKind(this.use(a, 'isNan', 'operand'), ['float'], 'isNan');
    return this.emit(Op.IsNan, this.boolLike(a.type), a.id);
  }

  /** `a` where the condition holds, else `b`. The condition is a bool, or one per component of a vector. */
  select(condition: Value, a: Operand, b: Operand): Value {
    const [x, y] = this.pair(a, b, 'select');
    this.expectKind(x, ['int', 'float', 'bool', 'pointer'], 'select');
    let chosen = this.use(condition, 'select', 'condition');
    // Before SPIR-V 1.4 a vector is selected component by component only.
    if (x.type.kind === 'vector' && chosen.type.kind === 'bool') {
      chosen = this.spread(this.boolLike(x.type) as VectorType, chosen);
    }
    if (chosen.type !== this.boolLike(x.type)) {
      throw this.error('select', `condition is ${nameOf(chosen.type)} for operands of ${nameOf(x.type)}`);
    }
    return this.emit(Op.Select, x.type, chosen.id, x.id, y.id);
  }

  /** A vector whose components are all `scalar`. */
  protected spread(type: VectorType, scalar: Value): Value {
    return this.emit(Op.CompositeConstruct, type, ...Array.from({ length: type.count }, () => scalar.id));
  }

  /** Widens with zeros, or cuts off. */
  uconvert(a: Value, to: Type): Value {
    return this.#convert('uconvert', Op.UConvert, a, 'int', to, 'int');
  }
  /** Widens with the sign, or cuts off. */
  sconvert(a: Value, to: Type): Value {
    return this.#convert('sconvert', Op.SConvert, a, 'int', to, 'int');
  }
  /** The nearest float of another width, ties to even. */
  fconvert(a: Value, to: Type): Value {
    return this.#convert('fconvert', Op.FConvert, a, 'float', to, 'float');
  }
  /** Unsigned integer to float. */
  utof(a: Value, to: Type): Value {
    return this.#convert('utof', Op.ConvertUToF, a, 'int', to, 'float');
  }
  stof(a: Value, to: Type): Value {
    return this.#convert('stof', Op.ConvertSToF, a, 'int', to, 'float');
  }
  /** Float to unsigned integer, towards zero; undefined where that does not fit. */
  ftou(a: Value, to: Type): Value {
    return this.#convert('ftou', Op.ConvertFToU, a, 'float', to, 'int');
  }
  ftos(a: Value, to: Type): Value {
    return this.#convert('ftos', Op.ConvertFToS, a, 'float', to, 'int');
  }
  /** The same bits as another type of the same size, or a pointer to another type. */
  bitcast(a: Value, to: Type): Value {
    const { type } = this.use(a, 'bitcast', 'operand');
    if (type === to) return a;
    this.expectType(to, 'bitcast');
    const isPointer = type.kind === 'pointer';
    if (isPointer && to.kind === 'pointer' && type.storage !== to.storage) {
      throw this.error('bitcast', 'a pointer to one memory cannot be seen as one to another');
    }
    if (bitsOf(type) === undefined || bitsOf(type) !== bitsOf(to) || isPointer !== (to.kind === 'pointer')) {
      throw this.error('bitcast', `${nameOf(a.type)} cannot be seen as ${nameOf(to)}`);
    }
    return this.emit(Op.Bitcast, to, a.id);
  }

  /**
   * A function of the OpenCL extended instruction set, such as `math('exp', x)`: all operands and the result have one type.
   */
  math(name: MathFunction, ...operands: readonly [Value, ...Operand[]]): Value {
    const known = MATH.get(name);
    if (known === undefined) throw this.error('math', `there is no ${name} of numbers of one type`);
    const { kind, count, width } = known;
    if (operands.length !== count) throw this.error(name, `takes ${count} operands, got ${operands.length}`);
    const first = this.use(operands[0], name, 'operand 1');
    const component = componentOf(first.type);
    if (component.kind !== kind || (width !== undefined && component.width !== width)) {
      throw this.error(name, `takes ${width === undefined ? kind : `${width}-bit ${kind}`}, got ${nameOf(first.type)}`);
    }
    const ids = operands.map((each, index) => this.operand(each, first.type, name, `operand ${index + 1}`).id);
    return this.emit(Op.ExtInst, first.type, this.context.openCl(), OpenCl[name], ...ids);
  }
  /** a * b + c with one rounding. */
  fma(a: Value, b: Operand, c: Operand): Value {
    return this.math('fma', a, b, c);
  }

  #either(name: string, int: Op, float: Op, a: Operand, b: Operand): Value {
    const [x, y] = this.pair(a, b, name);
    this.expectKind(x, ['int', 'float'], name);
    return this.emit(componentOf(x.type).kind === 'int' ? int : float, x.type, x.id, y.id);
  }

  #logical(name: string, int: Op, bool: Op, a: Operand, b: Operand): Value {
    const [x, y] = this.pair(a, b, name);
    this.expectKind(x, ['int', 'bool'], name);
    return this.emit(componentOf(x.type).kind === 'int' ? int : bool, x.type, x.id, y.id);
  }

  #binary(name: string, op: Op, a: Operand, b: Operand, kinds: readonly Type['kind'][]): Value {
    const [x, y] = this.pair(a, b, name);
    this.expectKind(x, kinds, name);
    return this.emit(op, x.type, x.id, y.id);
  }

  #unary(name: string, ops: { int: Op; float: Op }, a: Value): Value {
    this.expectKind(this.use(a, name, 'operand'), Object.keys(ops) as Type['kind'][], name);
    return this.emit(ops[componentOf(a.type).kind as keyof typeof ops], a.type, a.id);
  }

  #compare(name: string, op: Op, a: Operand, b: Operand, kind: Type['kind']): Value {
    const [x, y] = this.pair(a, b, name);
    this.expectKind(x, [kind], name);
    return this.emit(op, this.boolLike(x.type), x.id, y.id);
  }

  #comparable(name: string, a: Operand, b: Operand): readonly [Value, Value] {
    const [x, y] = this.pair(a, b, name);
    this.expectKind(x, ['int', 'float', 'bool'], name);
    return [x, y];
  }

  /**
   * Truth values turned round. Not OpLogicalNot, OpLogicalEqual and OpLogicalNotEqual: Intel's compilers of before 2023,
   * which Debian 12 and its like still ship, end the process on them (of vectors, or always).
   */
  #opposite(a: Value): Value {
    return this.select(a, this.constant(a.type, false), true);
  }

  #differ(a: Value, b: Value): Value {
    return this.select(a, this.#opposite(b), b);
  }

  #convert(name: string, op: Op, a: Value, from: Type['kind'], to: Type, target: Type['kind']): Value {
    this.expectKind(this.use(a, name, 'operand'), [from], name);
    this.expectType(to, name);
    const counts = [a.type, to].map((type) => (type.kind === 'vector' ? type.count : 1));
    if (componentOf(to).kind !== target || counts[0] !== counts[1]) {
      throw this.error(name, `${nameOf(a.type)} cannot become ${nameOf(to)}`);
    }
    // Conversions between equal types are not valid, and nothing to do.
    return a.type === to ? a : this.emit(op, to, a.id);
  }
}

const isTruth = ({ type }: Value): boolean => componentOf(type).kind === 'bool';

/** Bits of a value, for comparing sizes; pointers count as one size. */
function bitsOf(type: Type): number | undefined {
  switch (type.kind) {
    case 'int':
    case 'float':
      return type.width;
    case 'vector':
      return vectorBits(type);
    case 'pointer':
      return 64;
    default:
      return undefined;
  }
}

function vectorBits(type: VectorType): number | undefined {
  const component = bitsOf(type.component);
  return component === undefined ? undefined : component * type.count;
}

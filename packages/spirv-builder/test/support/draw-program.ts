import fc from 'fast-check';
import {
  type Condition,
  type Expression,
  FLOAT_COMPARISONS,
  FLOAT_OPERATIONS,
  INT_COMPARISONS,
  INT_OPERATIONS,
  type Statement,
  VARIABLES,
  type VariableType,
} from './program.ts';

const EXPRESSION_DEPTH = 3;
const STATEMENT_DEPTH = 3;

const TYPES: readonly VariableType[] = ['u32', 'u64', 'f32'];
const INTS = ['u32', 'u64'] as const;

/** Well-typed programs of a few statements, with branches, loops and array accesses inside each other. */
export function drawProgram(): fc.Arbitrary<readonly Statement[]> {
  return statements(STATEMENT_DEPTH);
}

function statements(depth: number): fc.Arbitrary<readonly Statement[]> {
  return fc.array(statement(depth), { minLength: 1, maxLength: depth === STATEMENT_DEPTH ? 6 : 3 });
}

function statement(depth: number): fc.Arbitrary<Statement> {
  const assign = fc.constantFrom(...TYPES).chain((type) =>
    fc.record({
      kind: fc.constant('assign' as const),
      type: fc.constant(type),
      index: variable(type),
      value: expression(type),
    }),
  );
  const element = fc.record({
    kind: fc.constant('element' as const),
    index: expression('u32'),
    value: expression('u32'),
  });
  if (depth === 0) return fc.oneof(assign, element);
  const body = statements(depth - 1);
  const iterations = fc.nat(3);
  return fc.oneof(
    { arbitrary: assign, weight: 3 },
    { arbitrary: element, weight: 2 },
    fc.record({
      kind: fc.constant('if' as const),
      condition: condition(1),
      body,
      otherwise: fc.oneof(body, fc.constant([])),
    }),
    fc.record({ kind: fc.constant('for' as const), iterations, counter: variable('u32'), body }),
    fc.record({ kind: fc.constant('while' as const), iterations, condition: condition(1), body }),
    fc.record({
      kind: fc.constant('switch' as const),
      selector: expression('u32').map((a): Expression => ({
        kind: 'int',
        type: 'u32',
        op: 'umod',
        a,
        b: { kind: 'literal', type: 'u32', value: 4 },
      })),
      cases: fc.array(body, { minLength: 1, maxLength: 3 }),
      otherwise: body,
    }),
  );
}

function variable(type: VariableType): fc.Arbitrary<number> {
  return fc.nat(VARIABLES[type] - 1);
}

function literal(type: VariableType): fc.Arbitrary<Expression> {
  const special =
    type === 'f32' ? [0, -0, 1, 0.1, -3.5, 1e30, -1e-30] : [0, 1, 2, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
  const value = fc.oneof(fc.constantFrom(...special), fc.nat(100));
  return value.map((number) => ({ kind: 'literal', type, value: number }));
}

function expression(type: VariableType, depth = EXPRESSION_DEPTH): fc.Arbitrary<Expression> {
  const leaf = fc.oneof(
    literal(type),
    variable(type).map((index): Expression => ({ kind: 'variable', type, index })),
  );
  if (depth === 0) return leaf;
  const [a, b] = [expression(type, depth - 1), expression(type, depth - 1)];
  const select = fc.record({
    kind: fc.constant('select' as const),
    type: fc.constant(type),
    condition: condition(0),
    a,
    b,
  });
  return fc.oneof({ arbitrary: leaf, weight: 2 }, select, operation(type, a, b), conversion(type, depth));
}

function operation(
  type: VariableType,
  a: fc.Arbitrary<Expression>,
  b: fc.Arbitrary<Expression>,
): fc.Arbitrary<Expression> {
  if (type === 'f32') {
    const op = fc.constantFrom(...FLOAT_OPERATIONS);
    return fc.record({ kind: fc.constant('float' as const), type: fc.constant(type), op, a, b });
  }
  const op = fc.constantFrom(...INT_OPERATIONS);
  return fc.record({ kind: fc.constant('int' as const), type: fc.constant(type), op, a, b });
}

function conversion(type: VariableType, depth: number): fc.Arbitrary<Expression> {
  const convert = (how: 'zeros' | 'sign' | 'cut' | 'float', from: VariableType): fc.Arbitrary<Expression> =>
    expression(from, depth - 1).map((a) => ({ kind: 'convert', type, how, a }));
  if (type === 'u64') return fc.oneof(convert('zeros', 'u32'), convert('sign', 'u32'));
  if (type === 'f32') return convert('float', 'u32');
  const element = expression('u32', depth - 1).map((index): Expression => ({ kind: 'element', type, index }));
  return fc.oneof(convert('cut', 'u64'), element);
}

function condition(depth: number): fc.Arbitrary<Condition> {
  const ints = fc.constantFrom(...INTS).chain((type) =>
    fc.record({
      kind: fc.constant('int' as const),
      op: fc.constantFrom(...INT_COMPARISONS),
      a: expression(type, depth),
      b: expression(type, depth),
    }),
  );
  const floats = fc.record({
    kind: fc.constant('float' as const),
    op: fc.constantFrom(...FLOAT_COMPARISONS),
    a: expression('f32', depth),
    b: expression('f32', depth),
  });
  if (depth === 0) return fc.oneof(ints, floats);
  return fc.oneof(
    ints,
    floats,
    fc.record({ kind: fc.constant('both' as const), a: condition(0), b: condition(0) }),
    fc.record({ kind: fc.constant('not' as const), a: condition(0) }),
  );
}

/**
 * Small programs over a fixed set of variables, for property tests: the same tree is interpreted here (`interpret`) and
 * written with the builder (`emit-program.ts`). Every operation is defined for all operands.
 */

/** Variables of a program: these many of each type, numbered from 0. */
export const VARIABLES = { u32: 3, u64: 2, f32: 3 } as const;
/** Elements of the one array of a program, of u32. */
export const ARRAY_LENGTH = 8;

export type VariableType = keyof typeof VARIABLES;
export const INT_OPERATIONS = [
  'add',
  'sub',
  'mul',
  'and',
  'or',
  'xor',
  'udiv',
  'sdiv',
  'umod',
  'srem',
  'shl',
  'lshr',
  'ashr',
] as const;
export const FLOAT_OPERATIONS = ['add', 'sub', 'mul', 'div'] as const;
export const INT_COMPARISONS = ['eq', 'ne', 'ult', 'ule', 'ugt', 'uge', 'slt', 'sle', 'sgt', 'sge'] as const;
export const FLOAT_COMPARISONS = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const;

export type IntOperation = (typeof INT_OPERATIONS)[number];
export type FloatOperation = (typeof FLOAT_OPERATIONS)[number];

export type Condition =
  | {
      readonly kind: 'int';
      readonly op: (typeof INT_COMPARISONS)[number];
      readonly a: Expression;
      readonly b: Expression;
    }
  | {
      readonly kind: 'float';
      readonly op: (typeof FLOAT_COMPARISONS)[number];
      readonly a: Expression;
      readonly b: Expression;
    }
  | { readonly kind: 'both'; readonly a: Condition; readonly b: Condition }
  | { readonly kind: 'not'; readonly a: Condition };

/** Integers are held as BigInts below 2^width, floats as numbers that are float32 values. */
export type Expression =
  | { readonly kind: 'literal'; readonly type: VariableType; readonly value: number }
  | { readonly kind: 'variable'; readonly type: VariableType; readonly index: number }
  | {
      readonly kind: 'int';
      readonly type: 'u32' | 'u64';
      readonly op: IntOperation;
      readonly a: Expression;
      readonly b: Expression;
    }
  | {
      readonly kind: 'float';
      readonly type: 'f32';
      readonly op: FloatOperation;
      readonly a: Expression;
      readonly b: Expression;
    }
  | {
      readonly kind: 'select';
      readonly type: VariableType;
      readonly condition: Condition;
      readonly a: Expression;
      readonly b: Expression;
    }
  | { readonly kind: 'element'; readonly type: 'u32'; readonly index: Expression }
  /** u32 to u64 with zeros or with the sign, u64 to u32, the bits of a float, a small integer as a float. */
  | {
      readonly kind: 'convert';
      readonly type: VariableType;
      readonly how: 'zeros' | 'sign' | 'cut' | 'float';
      readonly a: Expression;
    };

export type Statement =
  | { readonly kind: 'assign'; readonly type: VariableType; readonly index: number; readonly value: Expression }
  | { readonly kind: 'element'; readonly index: Expression; readonly value: Expression }
  | {
      readonly kind: 'if';
      readonly condition: Condition;
      readonly body: readonly Statement[];
      readonly otherwise: readonly Statement[];
    }
  /** Runs the body `iterations` times; variable `counter` of u32 is set to the iteration before each. */
  | { readonly kind: 'for'; readonly iterations: number; readonly counter: number; readonly body: readonly Statement[] }
  /** Runs the body while the condition holds, at most `iterations` times. */
  | {
      readonly kind: 'while';
      readonly iterations: number;
      readonly condition: Condition;
      readonly body: readonly Statement[];
    }
  | {
      readonly kind: 'switch';
      readonly selector: Expression;
      readonly cases: readonly (readonly Statement[])[];
      readonly otherwise: readonly Statement[];
    };

/** The variables and the array. */
export interface State {
  readonly u32: bigint[];
  readonly u64: bigint[];
  readonly f32: number[];
  readonly array: bigint[];
}

/** Runs a program on a state, which it changes. */
export function interpret(statements: readonly Statement[], state: State): void {
  for (const statement of statements) run(statement, state);
}

function run(statement: Statement, state: State): void {
  switch (statement.kind) {
    case 'assign': {
      const variables = state[statement.type] as (number | bigint)[];
      variables[statement.index] = evaluate(statement.value, state);
      return;
    }
    case 'element':
      state.array[elementIndex(statement.index, state)] = int(statement.value, state);
      return;
    case 'if':
      interpret(holds(statement.condition, state) ? statement.body : statement.otherwise, state);
      return;
    case 'for':
      for (let iteration = 0; iteration < statement.iterations; iteration++) {
        state.u32[statement.counter] = BigInt(iteration);
        interpret(statement.body, state);
      }
      return;
    case 'while':
      for (let iteration = 0; iteration < statement.iterations && holds(statement.condition, state); iteration++) {
        interpret(statement.body, state);
      }
      return;
    case 'switch': {
      const value = Number(int(statement.selector, state));
      interpret(statement.cases[value] ?? statement.otherwise, state);
    }
  }
}

function elementIndex(index: Expression, state: State): number {
  return Number(int(index, state) % BigInt(ARRAY_LENGTH));
}

function holds(condition: Condition, state: State): boolean {
  switch (condition.kind) {
    case 'both':
      return holds(condition.a, state) && holds(condition.b, state);
    case 'not':
      return !holds(condition.a, state);
    case 'float': {
      const [a, b] = [evaluate(condition.a, state), evaluate(condition.b, state)];
      return { eq: a === b, ne: a !== b, lt: a < b, le: a <= b, gt: a > b, ge: a >= b }[condition.op];
    }
    case 'int': {
      const [a, b] = [int(condition.a, state), int(condition.b, state)];
      const width = widthOf(condition.a);
      const [x, y] = [BigInt.asIntN(width, a), BigInt.asIntN(width, b)];
      return {
        eq: a === b,
        ne: a !== b,
        ult: a < b,
        ule: a <= b,
        ugt: a > b,
        uge: a >= b,
        slt: x < y,
        sle: x <= y,
        sgt: x > y,
        sge: x >= y,
      }[condition.op];
    }
  }
}

function widthOf(expression: Expression): 32 | 64 {
  return expression.type === 'u64' ? 64 : 32;
}

function int(expression: Expression, state: State): bigint {
  return evaluate(expression, state) as bigint;
}

function evaluate(expression: Expression, state: State): number | bigint {
  switch (expression.kind) {
    case 'literal':
      return expression.type === 'f32' ? Math.fround(expression.value) : BigInt(expression.value);
    case 'variable':
      return state[expression.type][expression.index] as number | bigint;
    case 'select':
      return evaluate(holds(expression.condition, state) ? expression.a : expression.b, state);
    case 'element':
      return state.array[elementIndex(expression.index, state)] as bigint;
    case 'float': {
      const [a, b] = [evaluate(expression.a, state) as number, evaluate(expression.b, state) as number];
      // Rounding the double result once more gives the correctly rounded single one for these four.
      return Math.fround({ add: a + b, sub: a - b, mul: a * b, div: a / b }[expression.op]);
    }
    case 'int':
      return operate(expression.op, int(expression.a, state), int(expression.b, state), widthOf(expression));
    case 'convert':
      return convert(expression.how, evaluate(expression.a, state));
  }
}

/** Division by 0 divides by 1, and shifts are by the amount modulo the width: `emit-program.ts` writes it so. */
function operate(op: IntOperation, a: bigint, b: bigint, width: 32 | 64): bigint {
  const signed = (value: bigint): bigint => BigInt.asIntN(width, value);
  const divisor = b === 0n ? 1n : b;
  // -1 as a divisor overflows for the smallest value.
  const signedDivisor = b === 0n || signed(b) === -1n ? 1n : signed(b);
  const bits = b % BigInt(width);
  const results: Record<IntOperation, () => bigint> = {
    add: () => a + b,
    sub: () => a - b,
    mul: () => a * b,
    and: () => a & b,
    or: () => a | b,
    xor: () => a ^ b,
    udiv: () => a / divisor,
    umod: () => a % divisor,
    sdiv: () => signed(a) / signedDivisor,
    srem: () => signed(a) % signedDivisor,
    shl: () => a << bits,
    lshr: () => a >> bits,
    ashr: () => signed(a) >> bits,
  };
  return BigInt.asUintN(width, results[op]());
}

function convert(how: 'zeros' | 'sign' | 'cut' | 'float', value: number | bigint): number | bigint {
  switch (how) {
    case 'zeros':
      return value;
    case 'sign':
      return BigInt.asUintN(64, BigInt.asIntN(32, value as bigint));
    case 'cut':
      return BigInt.asUintN(32, value as bigint);
    case 'float':
      // 16 bits, so that the conversion is exact.
      return Number((value as bigint) & 0xffffn);
  }
}

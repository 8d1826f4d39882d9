import fc from 'fast-check';

/**
 * Small programs over a fixed set of variables, for property tests. A program is code for a machine that it does not know: one
 * computes with numbers (`interpret`), one writes SPIR-V (`emit-program.ts`), one lists what it is told. Every operation
 * is defined for all operands.
 */
export type Program = Statement;

/** Variables of a program, one type after the other: how many there are of each. */
export const VARIABLES = { u32: 3, u64: 2, f32: 3 } as const;
/** Elements of the one array of a program, of u32. */
export const ARRAY_LENGTH = 8;

export type VariableType = keyof typeof VARIABLES;
type IntType = 'u32' | 'u64';

const INT_OPERATIONS = 'add sub mul and or xor udiv sdiv umod srem shl lshr ashr'.split(' ') as IntOperation[];
const FLOAT_OPERATIONS = ['add', 'sub', 'mul', 'div'] as const;
const INT_COMPARISONS = ['eq', 'ne', 'ult', 'ule', 'ugt', 'uge', 'slt', 'sle', 'sgt', 'sge'] as const;
const FLOAT_COMPARISONS = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const;

export type IntOperation =
  | ('add' | 'sub' | 'mul' | 'and' | 'or' | 'xor' | 'udiv' | 'sdiv')
  | ('umod' | 'srem' | 'shl' | 'lshr' | 'ashr');
export type FloatOperation = (typeof FLOAT_OPERATIONS)[number];
export type Comparison = (typeof INT_COMPARISONS)[number] | (typeof FLOAT_COMPARISONS)[number];
/** u32 to u64 with zeros or with the sign, u64 to u32, a small integer as a float. */
export type Conversion = 'zeros' | 'sign' | 'cut' | 'float';

/** What happens to the values of all variables. */
export type Block<V> = (variables: readonly V[]) => readonly V[];

/** What programs are made of. A divisor of 0 (or -1, signed) counts as 1, shifts and elements are taken modulo what there are. */
export interface Machine<V> {
  literal(type: VariableType, value: number): V;
  int(op: IntOperation, type: IntType, a: V, b: V): V;
  float(op: FloatOperation, a: V, b: V): V;
  compare(op: Comparison, type: VariableType, a: V, b: V): V;
  both(a: V, b: V): V;
  not(a: V): V;
  select(condition: V, a: V, b: V): V;
  convert(how: Conversion, a: V): V;
  load(index: V): V;
  store(index: V, value: V): void;
  ifElse(condition: V, variables: readonly V[], then: Block<V>, otherwise: Block<V>): readonly V[];
  switchOn(selector: V, variables: readonly V[], otherwise: Block<V>, ...cases: readonly Block<V>[]): readonly V[];
  /** Sets the variable `counter` to the number of the iteration before each. */
  forLoop(iterations: number, counter: number, variables: readonly V[], body: Block<V>): readonly V[];
  /** Runs the body while the condition holds, at most so often. */
  whileLoop(
    most: number,
    variables: readonly V[],
    condition: (variables: readonly V[]) => V,
    body: Block<V>,
  ): readonly V[];
}

type Expression = <V>(machine: Machine<V>, variables: readonly V[]) => V;
type Statement = <V>(machine: Machine<V>, variables: readonly V[]) => readonly V[];

/** Types what a draw is mapped to. */
const computes = (of: Expression): Expression => of;
const does = (of: Statement): Statement => of;

const EXPRESSION_DEPTH = 3;
const STATEMENT_DEPTH = 3;

/** Well-typed programs of a few statements, with branches, loops and array accesses inside each other. */
export function drawProgram(): fc.Arbitrary<Program> {
  return statements(STATEMENT_DEPTH).map((program) =>
    Object.assign(program, { [fc.toStringMethod]: () => listProgram(program) }),
  );
}

function statements(depth: number): fc.Arbitrary<Statement> {
  return fc.array(statement(depth), { minLength: 1, maxLength: depth === STATEMENT_DEPTH ? 6 : 3 }).map(
    (list): Statement =>
      (m, before) =>
        list.reduce((variables, each) => each(m, variables), before),
  );
}

function statement(depth: number): fc.Arbitrary<Statement> {
  const assign = fc
    .constantFrom<VariableType>('u32', 'u64', 'f32')
    .chain((type) => fc.tuple(variable(type), expression(type)))
    .map(([index, value]) => does((m, s) => replaced(s, index, value(m, s))));
  const element = fc.tuple(expression('u32'), expression('u32')).map(([index, value]): Statement => (m, s) => {
    m.store(index(m, s), value(m, s));
    return s;
  });
  if (depth === 0) return fc.oneof(assign, element);
  const body = statements(depth - 1);
  const nothing: Statement = (_, s) => s;
  const iterations = fc.nat(3);
  return fc.oneof(
    { arbitrary: assign, weight: 3 },
    { arbitrary: element, weight: 2 },
    fc.tuple(condition(1), body, fc.oneof(body, fc.constant(nothing))).map(([holds, then, otherwise]) =>
      does((m, s) =>
        m.ifElse(
          holds(m, s),
          s,
          (inner) => then(m, inner),
          (inner) => otherwise(m, inner),
        ),
      ),
    ),
    fc
      .tuple(iterations, variable('u32'), body)
      .map(([count, counter, each]) => does((m, s) => m.forLoop(count, counter, s, (inner) => each(m, inner)))),
    fc.tuple(iterations, condition(1), body).map(([most, holds, each]) =>
      does((m, s) =>
        m.whileLoop(
          most,
          s,
          (inner) => holds(m, inner),
          (inner) => each(m, inner),
        ),
      ),
    ),
    fc
      .tuple(expression('u32'), body, fc.array(body, { minLength: 1, maxLength: 3 }))
      .map(([selector, otherwise, cases]): Statement => (m, s) => {
        const blocks = [otherwise, ...cases].map((each) => (inner: typeof s) => each(m, inner));
        const [rest, ...named] = blocks as [(typeof blocks)[number], ...typeof blocks];
        return m.switchOn(m.int('umod', 'u32', selector(m, s), m.literal('u32', 4)), s, rest, ...named);
      }),
  );
}

const FIRST: Readonly<Record<VariableType, number>> = {
  u32: 0,
  u64: VARIABLES.u32,
  f32: VARIABLES.u32 + VARIABLES.u64,
};

/** The place of a variable among all. */
const variable = (type: VariableType): fc.Arbitrary<number> =>
  fc.nat(VARIABLES[type] - 1).map((at) => FIRST[type] + at);

export function replaced<V>(variables: readonly V[], index: number, value: V): readonly V[] {
  return variables.map((old, at) => (at === index ? value : old));
}

function literal(type: VariableType): fc.Arbitrary<Expression> {
  const special =
    type === 'f32' ? [0, -0, 1, 0.1, -3.5, 1e30, -1e-30] : [0, 1, 2, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
  return fc.oneof(fc.constantFrom(...special), fc.nat(100)).map((value) => computes((m) => m.literal(type, value)));
}

function expression(type: VariableType, depth = EXPRESSION_DEPTH): fc.Arbitrary<Expression> {
  const read = variable(type).map(
    (index): Expression =>
      <V>(_: Machine<V>, s: readonly V[]) =>
        s[index] as V,
  );
  const leaf = fc.oneof(literal(type), read);
  if (depth === 0) return leaf;
  const pair = fc.tuple(expression(type, depth - 1), expression(type, depth - 1));
  const select = fc
    .tuple(condition(0), pair)
    .map(([holds, [a, b]]) => computes((m, s) => m.select(holds(m, s), a(m, s), b(m, s))));
  const operation =
    type === 'f32'
      ? fc
          .tuple(fc.constantFrom(...FLOAT_OPERATIONS), pair)
          .map(([op, [a, b]]) => computes((m, s) => m.float(op, a(m, s), b(m, s))))
      : fc
          .tuple(fc.constantFrom(...INT_OPERATIONS), pair)
          .map(([op, [a, b]]) => computes((m, s) => m.int(op, type, a(m, s), b(m, s))));
  return fc.oneof({ arbitrary: leaf, weight: 2 }, select, operation, conversion(type, depth));
}

function conversion(type: VariableType, depth: number): fc.Arbitrary<Expression> {
  const convert = (how: Conversion, from: VariableType): fc.Arbitrary<Expression> =>
    expression(from, depth - 1).map((a) => computes((m, s) => m.convert(how, a(m, s))));
  if (type === 'u64') return fc.oneof(convert('zeros', 'u32'), convert('sign', 'u32'));
  if (type === 'f32') return convert('float', 'u32');
  const element = expression('u32', depth - 1).map((index) => computes((m, s) => m.load(index(m, s))));
  return fc.oneof(convert('cut', 'u64'), element);
}

function condition(depth: number): fc.Arbitrary<Expression> {
  const compare = (type: VariableType, ops: readonly Comparison[]): fc.Arbitrary<Expression> =>
    fc
      .tuple(fc.constantFrom(...ops), expression(type, depth), expression(type, depth))
      .map(([op, a, b]) => computes((m, s) => m.compare(op, type, a(m, s), b(m, s))));
  const some = [compare('u32', INT_COMPARISONS), compare('u64', INT_COMPARISONS), compare('f32', FLOAT_COMPARISONS)];
  if (depth === 0) return fc.oneof(...some);
  return fc.oneof(
    ...some,
    fc.tuple(condition(0), condition(0)).map(([a, b]) => computes((m, s) => m.both(a(m, s), b(m, s)))),
    condition(0).map((a) => computes((m, s) => m.not(a(m, s)))),
  );
}

type Number = number | bigint | boolean;

/** Integers are BigInts below 2^width, floats are numbers that are float32 values. The array is changed. */
export function interpret(program: Program, before: readonly Number[], array: bigint[]): readonly Number[] {
  const int = (value: Number): bigint => value as bigint;
  const element = (index: Number): number => Number(int(index) % BigInt(ARRAY_LENGTH));
  const machine: Machine<Number> = {
    literal: (type, value) => (type === 'f32' ? Math.fround(value) : BigInt(value)),
    int: (op, type, a, b) => operate(op, int(a), int(b), type === 'u64' ? 64 : 32),
    // Rounding the double result once more gives the correctly rounded single one for these four.
    float: (op, x, y) => {
      const [a, b] = [x as number, y as number];
      return Math.fround({ add: a + b, sub: a - b, mul: a * b, div: a / b }[op]);
    },
    compare: (op, type, a, b) => {
      const isSigned = op.length === 3 && op.startsWith('s');
      const seen = (value: Number): Number => (isSigned ? BigInt.asIntN(type === 'u64' ? 64 : 32, int(value)) : value);
      const [x, y] = [seen(a), seen(b)];
      return { eq: x === y, ne: x !== y, lt: x < y, le: x <= y, gt: x > y, ge: x >= y }[op.slice(-2) as 'eq'];
    },
    both: (a, b) => a === true && b === true,
    not: (a) => a === false,
    select: (holds, a, b) => (holds === true ? a : b),
    convert: (how, a) => {
      if (how === 'sign') return BigInt.asUintN(64, BigInt.asIntN(32, int(a)));
      // 16 bits, so that the conversion is exact.
      if (how === 'float') return Number(int(a) & 0xffffn);
      return how === 'cut' ? BigInt.asUintN(32, int(a)) : a;
    },
    load: (index) => array[element(index)] as bigint,
    store: (index, value) => void (array[element(index)] = int(value)),
    ifElse: (holds, variables, then, otherwise) => (holds === true ? then : otherwise)(variables),
    switchOn: (selector, variables, otherwise, ...cases) => (cases[Number(selector)] ?? otherwise)(variables),
    forLoop: (iterations, counter, variables, body) => {
      let after = variables;
      for (let at = 0; at < iterations; at++) after = body(replaced(after, counter, BigInt(at)));
      return after;
    },
    whileLoop: (most, variables, holds, body) => {
      let after = variables;
      for (let at = 0; at < most && holds(after) === true; at++) after = body(after);
      return after;
    },
  };
  return program(machine, before);
}

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

/** A program for people, who see one that failed: one operation on each line, blocks indented. */
function listProgram(program: Program): string {
  const lines: string[] = [];
  let [count, indent] = [0, ''];
  const fresh = (): string => `%${count++}`;
  const say = (method: string, args: readonly unknown[]): string | readonly string[] => {
    const variables = args.find(Array.isArray) as readonly string[] | undefined;
    const result = variables === undefined ? fresh() : variables.map(fresh);
    const shown = args.filter((arg) => typeof arg !== 'function');
    lines.push(`${indent}${String(result)} = ${method} ${shown.map(String).join(' ')}`);
    for (const block of args.filter((arg) => typeof arg === 'function')) {
      indent += '  ';
      lines.push(`${indent}gives ${String((block as Block<string>)(variables ?? []))}`);
      indent = indent.slice(2);
    }
    return result;
  };
  const machine = new Proxy(
    {},
    {
      get:
        (_, method) =>
        (...args: unknown[]) =>
          say(String(method), args),
    },
  );
  const before = Object.entries(VARIABLES).flatMap(([type, length]) =>
    Array.from({ length }, (_, index) => `${type}.${index}`),
  );
  const after = program(machine as Machine<string>, before);
  return `\n${lines.join('\n')}\ngives ${after.join()}`;
}

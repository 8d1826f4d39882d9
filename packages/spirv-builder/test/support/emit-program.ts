import { type FunctionBuilder, ModuleBuilder, type Value } from '../../src/index.ts';
import {
  ARRAY_LENGTH,
  type Condition,
  type Expression,
  type IntOperation,
  type Statement,
  VARIABLES,
  type VariableType,
} from './program.ts';

/** u32 words that hold one state: the variables in order, then the array. */
export const STATE_WORDS: number = VARIABLES.u32 + VARIABLES.f32 + 2 * VARIABLES.u64 + ARRAY_LENGTH;

/** The values of the variables at one point of the code. The array is memory, so there is one for all. */
type Variables = Readonly<Record<VariableType, readonly Value[]>>;

/** The kernel `program`: each work-item runs the program on the state at its place in `states`, a pointer to u32. */
export function emitProgram(statements: readonly Statement[]): Uint32Array {
  const module = new ModuleBuilder();
  module.kernel('program', { states: module.globalPointer(module.int(32)) }, (k, { states }) => {
    const own = k.at(states, k.mul(k.globalId(0), STATE_WORDS));
    const emitter = new ProgramEmitter(k);
    const before = emitter.load(own);
    emitter.store(own, emitter.block(statements, before));
  });
  return module.build();
}

class ProgramEmitter {
  readonly #k: FunctionBuilder;
  readonly #array: Value;

  constructor(k: FunctionBuilder) {
    this.#k = k;
    this.#array = k.privateArray(k.types.int(32), ARRAY_LENGTH);
  }

  load(own: Value): Variables {
    const k = this.#k;
    let word = 0;
    const next = (): Value => k.load(k.at(own, word++));
    const u32 = Array.from({ length: VARIABLES.u32 }, next);
    const f32 = Array.from({ length: VARIABLES.f32 }, () => k.bitcast(next(), k.types.float(32)));
    const u64 = Array.from({ length: VARIABLES.u64 }, () => {
      const [low, high] = [next(), next()].map((half) => k.uconvert(half, k.types.int(64)));
      return k.or(low as Value, k.shl(high as Value, 32));
    });
    for (let index = 0; index < ARRAY_LENGTH; index++) k.store(k.at(this.#array, index), next());
    return { u32, u64, f32 };
  }

  store(own: Value, { u32, u64, f32 }: Variables): void {
    const k = this.#k;
    const int32 = k.types.int(32);
    const words = [
      ...u32,
      ...f32.map((value) => k.bitcast(value, int32)),
      ...u64.flatMap((value) => [k.uconvert(value, int32), k.uconvert(k.lshr(value, 32), int32)]),
      ...Array.from({ length: ARRAY_LENGTH }, (_, index) => k.load(k.at(this.#array, index))),
    ];
    words.forEach((word, index) => k.store(k.at(own, index), word));
  }

  block(statements: readonly Statement[], before: Variables): Variables {
    return statements.reduce((variables, statement) => this.#statement(statement, variables), before);
  }

  #statement(statement: Statement, variables: Variables): Variables {
    const k = this.#k;
    const branch = (body: readonly Statement[]) => () => flat(this.block(body, variables));
    switch (statement.kind) {
      case 'assign':
        return replace(variables, statement.type, statement.index, this.#value(statement.value, variables));
      case 'element':
        k.store(this.#element(statement.index, variables), this.#value(statement.value, variables));
        return variables;
      case 'if':
        return unflat(
          k.ifElse(
            this.#condition(statement.condition, variables),
            branch(statement.body),
            branch(statement.otherwise),
          ),
        );
      case 'switch': {
        const cases = statement.cases.map((body, value) => ({ value, body: branch(body) }));
        return unflat(k.switchOn(this.#value(statement.selector, variables), cases, branch(statement.otherwise)));
      }
      case 'for': {
        const iterations = k.constant(k.types.int(32), statement.iterations);
        return unflat(
          k.forLoop({ to: iterations }, flat(variables), (iteration, carried) =>
            flat(this.block(statement.body, replace(unflat(carried), 'u32', statement.counter, iteration))),
          ),
        );
      }
      case 'while': {
        const iterations = k.constant(k.types.int(32), 0);
        const carried = k.whileLoop(
          [iterations, ...flat(variables)],
          ([iteration, ...values]) =>
            k.and(
              k.ult(iteration as Value, statement.iterations),
              this.#condition(statement.condition, unflat(values)),
            ),
          ([iteration, ...values]) => [
            k.add(iteration as Value, 1),
            ...flat(this.block(statement.body, unflat(values))),
          ],
        );
        return unflat(carried.slice(1));
      }
    }
  }

  #element(index: Expression, variables: Variables): Value {
    return this.#k.at(this.#array, this.#k.umod(this.#value(index, variables), ARRAY_LENGTH));
  }

  #value(expression: Expression, variables: Variables): Value {
    const k = this.#k;
    const type = { u32: k.types.int(32), u64: k.types.int(64), f32: k.types.float(32) }[expression.type];
    const value = (operand: Expression): Value => this.#value(operand, variables);
    switch (expression.kind) {
      case 'literal':
        return k.constant(type, expression.value);
      case 'variable':
        return variables[expression.type][expression.index] as Value;
      case 'select':
        return k.select(this.#condition(expression.condition, variables), value(expression.a), value(expression.b));
      case 'element':
        return k.load(this.#element(expression.index, variables));
      case 'float':
        return k[expression.op](value(expression.a), value(expression.b));
      case 'int':
        return this.#operate(
          expression.op,
          value(expression.a),
          value(expression.b),
          expression.type === 'u64' ? 64 : 32,
        );
      case 'convert': {
        const a = value(expression.a);
        if (expression.how === 'float') return k.utof(k.and(a, 0xffff), type);
        return expression.how === 'sign' ? k.sconvert(a, type) : k.uconvert(a, type);
      }
    }
  }

  /** As the interpreter says: a divisor of 0 (or -1, signed) becomes 1, and shifts are taken modulo the width. */
  #operate(op: IntOperation, a: Value, b: Value, width: 32 | 64): Value {
    const k = this.#k;
    switch (op) {
      case 'udiv':
      case 'umod':
        return k[op](a, k.select(k.eq(b, 0), k.constant(b.type, 1), b));
      case 'sdiv':
      case 'srem':
        return k[op](a, k.select(k.or(k.eq(b, 0), k.eq(b, -1)), k.constant(b.type, 1), b));
      case 'shl':
      case 'lshr':
      case 'ashr':
        return k[op](a, k.and(b, width - 1));
      default:
        return k[op](a, b);
    }
  }

  #condition(condition: Condition, variables: Variables): Value {
    const k = this.#k;
    switch (condition.kind) {
      case 'both':
        return k.and(this.#condition(condition.a, variables), this.#condition(condition.b, variables));
      case 'not':
        return k.not(this.#condition(condition.a, variables));
      default:
        return k[condition.op](this.#value(condition.a, variables), this.#value(condition.b, variables));
    }
  }
}

function replace(variables: Variables, type: VariableType, index: number, value: Value): Variables {
  return { ...variables, [type]: variables[type].map((old, at) => (at === index ? value : old)) };
}

function flat({ u32, u64, f32 }: Variables): Value[] {
  return [...u32, ...u64, ...f32];
}

function unflat(values: readonly Value[]): Variables {
  const [ints, longs] = [VARIABLES.u32, VARIABLES.u32 + VARIABLES.u64];
  return { u32: values.slice(0, ints), u64: values.slice(ints, longs), f32: values.slice(longs) };
}

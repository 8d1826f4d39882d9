import { type FunctionBuilder, ModuleBuilder, type Type, type Value } from '../../src/index.ts';
import { ARRAY_LENGTH, type Block, type Machine, type Program, replaced, VARIABLES } from './random-program.ts';

/** u32 words that hold one state: those of type u32 and f32, then u64, then the array. */
export const STATE_WORDS: number = VARIABLES.u32 + VARIABLES.f32 + 2 * VARIABLES.u64 + ARRAY_LENGTH;

/** The kernel `program`: each work-item runs the program on the state at its place in `states`, a pointer to u32. */
export function emitProgram(program: Program): Uint32Array {
  const module = new ModuleBuilder();
  module.kernel('program', { states: module.globalPointer(module.int(32)) }, (k, { states }) => {
    const own = k.at(states, k.mul(k.globalId(0), STATE_WORDS));
    const array = k.privateArray(k.types.int(32), ARRAY_LENGTH);
    const before = load(k, own, array);
    store(k, own, array, program(machineOf(k, array), before));
  });
  return module.build();
}

function load(k: FunctionBuilder, own: Value, array: Value): readonly Value[] {
  let word = 0;
  const next = (): Value => k.load(k.at(own, word++));
  const u32 = Array.from({ length: VARIABLES.u32 }, next);
  const f32 = Array.from({ length: VARIABLES.f32 }, () => k.bitcast(next(), k.types.float(32)));
  const u64 = Array.from({ length: VARIABLES.u64 }, () => {
    const [low, high] = [next(), next()].map((half) => k.uconvert(half, k.types.int(64)));
    return k.or(low as Value, k.shl(high as Value, 32));
  });
  for (let index = 0; index < ARRAY_LENGTH; index++) k.store(k.at(array, index), next());
  return [...u32, ...u64, ...f32];
}

function store(k: FunctionBuilder, own: Value, array: Value, variables: readonly Value[]): void {
  const int32 = k.types.int(32);
  const [ints, longs] = [VARIABLES.u32, VARIABLES.u32 + VARIABLES.u64];
  const words = [
    ...variables.slice(0, ints),
    ...variables.slice(longs).map((value) => k.bitcast(value, int32)),
    ...variables
      .slice(ints, longs)
      .flatMap((value) => [k.uconvert(value, int32), k.uconvert(k.lshr(value, 32), int32)]),
    ...Array.from({ length: ARRAY_LENGTH }, (_, index) => k.load(k.at(array, index))),
  ];
  words.forEach((word, index) => k.store(k.at(own, index), word));
}

function machineOf(k: FunctionBuilder, array: Value): Machine<Value> {
  const types: Readonly<Record<keyof typeof VARIABLES, Type>> = {
    u32: k.types.int(32),
    u64: k.types.int(64),
    f32: k.types.float(32),
  };
  const element = (index: Value): Value => k.at(array, k.umod(index, ARRAY_LENGTH));
  const branch = (block: Block<Value>, variables: readonly Value[]) => () => block(variables);
  return {
    literal: (type, value) => k.constant(types[type], value),
    int: (op, type, a, b) => {
      const unlessOne = (isOne: Value): Value => k.select(isOne, k.constant(b.type, 1), b);
      if (op === 'udiv' || op === 'umod') return k[op](a, unlessOne(k.eq(b, 0)));
      if (op === 'sdiv' || op === 'srem') return k[op](a, unlessOne(k.or(k.eq(b, 0), k.eq(b, -1))));
      if (op === 'shl' || op === 'lshr' || op === 'ashr') return k[op](a, k.and(b, type === 'u64' ? 63 : 31));
      return k[op](a, b);
    },
    float: (op, a, b) => k[op](a, b),
    compare: (op, _, a, b) => k[op](a, b),
    both: (a, b) => k.and(a, b),
    not: (a) => k.not(a),
    select: (condition, a, b) => k.select(condition, a, b),
    convert: (how, a) => {
      if (how === 'float') return k.utof(k.and(a, 0xffff), types.f32);
      return how === 'sign' ? k.sconvert(a, types.u64) : k.uconvert(a, how === 'cut' ? types.u32 : types.u64);
    },
    load: (index) => k.load(element(index)),
    store: (index, value) => k.store(element(index), value),
    ifElse: (condition, s, then, otherwise) => k.ifElse(condition, branch(then, s), branch(otherwise, s)),
    switchOn: (selector, s, otherwise, ...cases) =>
      k.switchOn(
        selector,
        cases.map((block, value) => ({ value, body: branch(block, s) })),
        branch(otherwise, s),
      ),
    forLoop: (iterations, counter, s, body) =>
      k.forLoop({ to: k.constant(types.u32, iterations) }, s, (iteration, carried) =>
        body(replaced(carried, counter, iteration)),
      ),
    whileLoop: (most, s, holds, body) =>
      k
        .whileLoop(
          [k.constant(types.u32, 0), ...s],
          ([iteration, ...carried]) => k.and(k.ult(iteration as Value, most), holds(carried)),
          ([iteration, ...carried]) => [k.add(iteration as Value, 1), ...body(carried)],
        )
        .slice(1),
  };
}

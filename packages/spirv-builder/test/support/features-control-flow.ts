import type { ModuleBuilder, Value } from '../../src/index.ts';
import { type Feature, feature, ramp } from './feature.ts';

/** Branches, loops, switches and functions. */
export const CONTROL_FLOW: readonly Feature[] = [
  feature('loop with carried values', [10, 0], [10, 55], (k, data) => {
    const fibonacci = k.forLoop(
      { to: k.load(data) },
      [k.constant(k.types.int(32), 0), k.constant(k.types.int(32), 1)],
      (_, [a, b]) => [b as Value, k.add(a as Value, b as Value)],
    );
    k.store(k.at(data, 1), fibonacci[0] as Value);
  }),
  feature('signed loop with a step', [0], [6], (k, data) => {
    const end = k.constant(k.types.int(32), 3);
    const counts = k.forLoop(
      { from: -8, to: end, step: 2, isSigned: true, unroll: 'unroll' },
      [k.load(data)],
      (_, [n]) => [k.add(n as Value, 1)],
    );
    k.store(data, counts[0] as Value);
  }),
  feature('loop without an iteration', [5], [5], (k, data) => {
    const none = k.constant(k.types.int(32), 0);
    k.forLoop({ to: none, unroll: 'dont-unroll' }, [], () => k.store(data, 1));
  }),
  feature('while loop: greatest common divisor', [84, 36], [12, 36], (k, data) => {
    const [a] = k.whileLoop(
      [k.load(data), k.load(k.at(data, 1))],
      ([, b]) => k.ne(b as Value, 0),
      ([x, y]) => [y as Value, k.umod(x as Value, y as Value)],
    );
    k.store(data, a as Value);
  }),
  feature('branches inside loops inside branches', ramp(8), [0, 1, 4, 1, 8, 1, 12, 1], (k, data) => {
    k.when(k.eq(k.load(data), 0), () => {
      k.forLoop({ to: k.constant(k.types.int(32), 8) }, [], (i) => {
        const even = k.eq(k.and(i, 1), 0);
        const [value] = k.ifElse(
          even,
          () => [k.mul(i, 2)],
          () => [k.constant(k.types.int(32), 1)],
        );
        k.store(k.at(data, i), value as Value);
      });
    });
  }),
  feature(
    'switch with results',
    [0, 1, 2, 3],
    [10, 11, 99, 13],
    (k, data) => {
      const own = k.at(data, k.globalId(0));
      const value = k.load(own);
      const cases = [0, 1, 3].map((literal) => ({ value: literal, body: () => [k.add(value, 10)] }));
      const [result] = k.switchOn(value, cases, () => [k.constant(k.types.int(32), 99)]);
      k.store(own, result as Value);
    },
    { items: 4 },
  ),
  feature('switch on 64 bits', [5], [2], (k, data) => {
    const selector = k.shl(k.uconvert(k.load(data), k.types.int(64)), 32);
    const cases = [{ value: 5n << 32n, body: () => k.store(data, 2) }];
    k.switchOn(selector, cases, () => k.store(data, 3));
  }),
  feature('function call', [3, 4], [25, 4], (k, data, module) => {
    k.store(data, k.call(hypotenuse(module), k.load(data), k.load(k.at(data, 1))));
  }),
  feature('functions that call functions', [3], [39], (k, data, module) => {
    const u32 = module.int(32);
    const outer = module.function('outer', { a: u32 }, u32, (f, { a }) => {
      const inner = module.function('inner', { b: u32 }, u32, (g, { b }) => g.mul(b, b));
      const [max] = f.ifElse(
        f.ugt(a, 2),
        () => [f.call(inner, a)],
        () => [a],
      );
      return f.add(f.call(inner, 5), f.add(max as Value, 5));
    });
    k.store(data, k.call(outer, k.load(data)));
  }),
  feature(
    'a function that is given workgroup memory',
    ramp(8),
    ramp(8).reverse(),
    (k, data, module) => {
      const u32 = module.int(32);
      const parameters = { from: module.localPointer(u32), at: module.int(64) };
      const mirrored = module.function('mirrored', parameters, u32, (f, { from, at }) =>
        f.load(f.at(from, f.sub(7, at))),
      );
      const shared = k.localArray(u32, 8);
      const own = k.localId(0);
      k.store(k.at(shared, own), k.load(k.at(data, own)));
      k.barrier();
      k.store(k.at(data, own), k.call(mirrored, k.at(shared, 0), own));
    },
    { items: 8 },
  ),
  feature('arrays and variables of a branch, after it', [4, 0], [4, 11], (k, data) => {
    const kept: Value[] = [];
    k.when(k.eq(k.load(data), 4), () => {
      kept.push(k.variable(k.types.int(32), 5), k.at(k.localArray(k.types.int(32), 2), 1));
      kept.splice(1, 1, k.localArray(k.types.int(32), 2));
    });
    const [variable, array] = kept as [Value, Value];
    k.store(k.at(array, 1), 6);
    k.store(k.at(data, 1), k.add(k.load(variable), k.load(k.at(array, 1))));
  }),
  feature('a branch that is an expression', [1, 7], [3, 7], (k, data) => {
    k.when(k.eq(k.load(k.at(data, 1)), 7), () => k.atomic('add', data, 2));
  }),
  feature('pointers chosen and carried', [1, 0, 0, 9], [1, 5, 0, 6], (k, data) => {
    const odd = k.eq(k.and(k.load(data), 1), 1);
    k.store(k.select(odd, k.at(data, 1), k.at(data, 2)), 5);
    const [last] = k.forLoop({ to: k.constant(k.types.int(32), 3) }, [data], (_, [at]) => [k.at(at as Value, 1)]);
    const [place] = k.ifElse(
      odd,
      () => [last as Value],
      () => [data],
    );
    k.store(place as Value, 6);
  }),
  feature('a loop whose condition branches', [10, 0], [10, 6], (k, data) => {
    const limit = k.load(data);
    const [count] = k.whileLoop(
      [k.constant(k.types.int(32), 0)],
      ([i]) => {
        const [goesOn] = k.ifElse(
          k.ult(i as Value, 4),
          () => [k.constant(k.types.bool(), true)],
          () => [k.ult(k.add(i as Value, 4), limit)],
        );
        return goesOn as Value;
      },
      ([i]) => [k.add(i as Value, 1)],
    );
    k.store(k.at(data, 1), count as Value);
  }),
  feature('switch on 8 and 16 bits, negative', [0xff, 0xfffe], [7, 8], (k, data) => {
    ([8, 16] as const).forEach((width, index) => {
      const place = k.at(data, index);
      const cases = [-1, -2].map((value) => ({ value, body: () => k.store(place, 6 - value) }));
      k.switchOn(k.uconvert(k.load(place), k.types.int(width)), cases, () => k.store(place, 0));
    });
  }),
  feature('switch without cases', [3], [4], (k, data) => {
    const [next] = k.switchOn(k.load(data), [], () => [k.add(k.load(data), 1)]);
    k.store(data, next as Value);
  }),
];

function hypotenuse(module: ModuleBuilder): ReturnType<ModuleBuilder['function']> {
  const u32 = module.int(32);
  return module.function('hypotenuse', { a: u32, b: u32 }, u32, (k, { a, b }) => k.add(k.mul(a, a), k.mul(b, b)));
}

import { type FunctionBuilder, StorageClass, type Value } from '../../src/index.ts';
import { bits, type Feature, feature, ramp, zeros } from './feature.ts';
import { CONTROL_FLOW } from './features-control-flow.ts';
import { CONVERSIONS } from './features-conversions.ts';
import { INTEGERS } from './features-integers.ts';
import { MATRIX_ENGINES } from './features-matrix-engines.ts';
import { SUBGROUPS } from './features-subgroups.ts';

/** A pointer to floats at the same place. */
function floats(k: FunctionBuilder, data: Value): Value {
  return k.bitcast(data, k.types.pointer(StorageClass.CrossWorkgroup, k.types.float(32)));
}

export const FEATURES: readonly Feature[] = [
  ...CONTROL_FLOW,
  ...INTEGERS,
  ...CONVERSIONS,
  ...SUBGROUPS,
  ...MATRIX_ENGINES,
  feature(
    'vectors: load, arithmetic, store',
    ramp(8),
    ramp(8).map((x) => 3 * x + 1),
    (k, data) => {
      const v = k.loadVector(data, 8);
      k.storeVector(data, k.add(k.mul(v, 3), 1));
    },
  ),
  feature('vectors: three components', [1, 2, 3, 9], [3, 2, 1, 9], (k, data) => {
    const v = k.loadVector(data, 3);
    k.storeVector(data, k.shuffle(v, v, [2, 1, 0]));
  }),
  feature('vectors: construct from parts, shuffle two', ramp(8), [0, 4, 1, 5, 2, 6, 3, 7], (k, data) => {
    const [a, b] = [k.loadVector(data, 4), k.loadVector(k.at(data, 4), 4)];
    const both = k.vector(k.types.vector(k.types.int(32), 8), a, b);
    k.storeVector(data, k.shuffle(both, both, [0, 4, 1, 5, 2, 6, 3, 7]));
  }),
  feature('vectors: insert, extract, at an index', [5, 6, 7, 2], [7, 6, 42, 2], (k, data) => {
    const v = k.loadVector(data, 4);
    k.storeVector(data, k.insert(k.insert(v, k.extractAt(v, k.extract(v, 3)), 0), 42, 2));
  }),
  feature('vectors: splat and compare', ramp(4), [10, 10, 2, 3], (k, data) => {
    const v = k.loadVector(data, 4);
    k.storeVector(data, k.select(k.ult(v, 2), 10, v));
  }),
  feature('select of vectors by one condition', ramp(4, 1), [2, 4, 6, 8], (k, data) => {
    const v = k.loadVector(data, 4);
    k.storeVector(data, k.select(k.eq(k.extract(v, 0), 1), k.mul(v, 2), v));
  }),
  feature(
    'local array and barrier',
    ramp(16),
    ramp(16).reverse(),
    (k, data) => {
      const shared = k.localArray(k.types.int(32), 16);
      const own = k.localId(0);
      k.store(k.at(shared, own), k.load(k.at(data, own)));
      k.barrier();
      k.store(k.at(data, own), k.load(k.at(shared, k.sub(15, own))));
    },
    { items: 16 },
  ),
  feature('local array of a specialised length', zeros(2), [16, 4], (k, data, module) => {
    const length = module.specConstant(module.int(32), 4, 0);
    const shared = k.localArray(k.types.int(32), length);
    k.store(k.at(shared, 3), module.specOperation('mul', length, module.constant(module.int(32), 4)));
    k.store(data, k.load(k.at(shared, 3)));
    k.store(k.at(data, 1), length);
  }),
  feature('private array', ramp(4, 1), [1, 3, 6, 10], (k, data) => {
    const sums = k.privateArray(k.types.int(32), 5);
    k.store(k.at(sums, 0), 0);
    const four = k.constant(k.types.int(64), 4);
    k.forLoop({ to: four }, [], (i) => {
      const next = k.add(k.load(k.at(sums, i)), k.load(k.at(data, i)));
      k.store(k.at(sums, k.add(i, 1)), next);
      k.store(k.at(data, i), next);
    });
  }),
  feature('variables', [7], [21], (k, data) => {
    const x = k.variable(k.types.int(32), k.load(data));
    k.when(k.ugt(k.load(x), 5), () => k.store(x, k.mul(k.load(x), 3)));
    k.store(data, k.load(x));
  }),
  feature(
    'literals at the ends of their types',
    zeros(7),
    [0xffff_ff80, 0xff, 0xffff_8000, 0xffff_ffff, ...bits(-0, Infinity, NaN)],
    (k, data) => {
      const [u8, u16, u32, u64, f32] = [
        k.types.int(8),
        k.types.int(16),
        k.types.int(32),
        k.types.int(64),
        k.types.float(32),
      ];
      const values = [
        k.sconvert(k.constant(u8, -128), u32),
        k.uconvert(k.constant(u8, 255), u32),
        k.sconvert(k.constant(u16, -32_768), u32),
        k.uconvert(k.lshr(k.constant(u64, 2n ** 64n - 1n), 32), u32),
        ...[-0, 1e39, NaN].map((number) => k.bitcast(k.constant(f32, number), u32)),
      ];
      values.forEach((value, index) => k.store(k.at(data, index), value));
    },
  ),
  feature('vectors of booleans', [1, 5, 3, 7], [0, 1, 0, 0], (k, data) => {
    const v = k.loadVector(data, 4);
    const [big, odd] = [k.ugt(v, 4), k.eq(k.and(v, 3), 1)];
    const both = k.and(k.xor(big, k.not(odd)), k.select(k.extract(big, 1), odd, big));
    k.storeVector(data, k.select(k.and(both, big), k.splat(k.types.vector(k.types.int(32), 4), 1), 0));
  }),
  feature(
    'atomics',
    [0, 7, 1, 0xff, 5, 8],
    [64, 0, 64, 0x0f, 5, 100],
    (k, data) => {
      k.atomic('add', data, 1);
      k.atomic('umin', k.at(data, 1), k.uconvert(k.localId(0), k.types.int(32)));
      k.atomic('umax', k.at(data, 2), 64);
      k.atomic('and', k.at(data, 3), 0x0f);
      k.atomic('exchange', k.at(data, 4), 5);
      k.atomicCompareExchange(k.at(data, 5), 8, 100);
    },
    { items: 64 },
  ),
  feature(
    'atomics in workgroup memory',
    [0],
    [120],
    (k, data) => {
      const sum = k.localArray(k.types.int(32), 1);
      const first = k.eq(k.localId(0), 0);
      k.when(first, () => k.store(k.at(sum, 0), 0));
      k.barrier();
      k.atomic('add', k.at(sum, 0), k.uconvert(k.localId(0), k.types.int(32)));
      k.barrier({ global: true });
      k.when(first, () => k.store(data, k.load(k.at(sum, 0))));
    },
    { items: 16 },
  ),
  feature('integers of 8, 16 and 64 bits', [0x1234_56ff, 0], [0xffff_ffff, 0x1e230], (k, data) => {
    const byte = k.uconvert(k.load(data), k.types.int(8));
    k.store(data, k.sconvert(byte, k.types.int(32)));
    const short = k.constant(k.types.int(16), 12_345);
    const wide = k.mul(k.uconvert(short, k.types.int(64)), 10);
    k.store(k.at(data, 1), k.add(k.uconvert(wide, k.types.int(32)), 6 - 16));
  }),
  feature('floats: arithmetic and conversions', bits(3, 4), [...bits(2.75), 11], (k, data) => {
    const p = floats(k, data);
    const [x, y] = [k.load(p), k.load(k.at(p, 1))];
    k.store(k.at(data, 1), k.ftou(k.sub(k.mul(x, y), 1), k.types.int(32)));
    k.store(p, k.div(k.add(k.neg(x), k.fma(x, y, 2)), y));
  }),
  feature('floats: extended instructions', bits(2, 9, -1.5), bits(Math.fround(Math.E ** 2), 3, 1.5), (k, data) => {
    const p = floats(k, data);
    k.store(p, k.math('exp', k.load(p)));
    k.store(k.at(p, 1), k.math('sqrt', k.load(k.at(p, 1))));
    k.store(k.at(p, 2), k.math('fabs', k.load(k.at(p, 2))));
  }),
  feature('floats: NaN', bits(NaN, 1), [1, 0], (k, data) => {
    const p = floats(k, data);
    const isNan = [k.isNan(k.load(p)), k.eq(k.load(k.at(p, 1)), k.load(p))];
    isNan.forEach((is, index) => k.store(k.at(data, index), k.select(is, k.constant(k.types.int(32), 1), 0)));
  }),
  feature('halves in memory', [0x3c00_c000, 0], [0x7c00_4200, ...bits(-2)], (k, data) => {
    const halves = k.bitcast(data, k.types.pointer(StorageClass.CrossWorkgroup, k.types.float(16)));
    const minusTwo = k.loadHalf(halves);
    k.storeHalf(halves, k.add(k.loadHalf(k.at(halves, 1)), 2));
    k.storeHalf(k.at(halves, 1), k.constant(k.types.float(32), 65_520));
    k.store(floats(k, k.at(data, 1)), minusTwo);
  }),
  feature('halves in vectors', [0x3c00_c000, 0x0001_8000], [0x4000_c400, 0x0002_8000], (k, data) => {
    const halves = k.bitcast(data, k.types.pointer(StorageClass.CrossWorkgroup, k.types.float(16)));
    k.storeHalf(halves, k.mul(k.loadHalf(halves, 4), 2));
  }),
  feature(
    'half arithmetic',
    [0x3c00],
    [0x4200],
    (k, data) => {
      const half = k.bitcast(k.uconvert(k.load(data), k.types.int(16)), k.types.float(16));
      const sum = k.add(k.add(half, half), 1);
      k.store(data, k.uconvert(k.bitcast(sum, k.types.int(16)), k.types.int(32)));
    },
    { environment: 'spv1.2' },
  ),
  feature('doubles', [0, 0], [0x9999_999a, 0x3fb9_9999], (k, data) => {
    const tenth = k.div(k.constant(k.types.float(64), 1), 10);
    const pointer = k.bitcast(data, k.types.pointer(StorageClass.CrossWorkgroup, k.types.float(64)));
    k.store(pointer, tenth);
  }),
  feature('structures in memory', [1, 2, 3], [1, 2, 5], (k, data) => {
    const u32 = k.types.int(32);
    const triple = k.types.struct([u32, u32, u32]);
    const pointer = k.bitcast(data, k.types.pointer(StorageClass.CrossWorkgroup, triple));
    k.store(k.member(pointer, 2), k.add(k.load(k.member(pointer, 1)), k.load(k.member(pointer, 2))));
  }),
  feature('logical operations', [0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 1, 0, 0, 1, 1, 0], (k, data) => {
    const yes = k.eq(k.load(data), 0);
    const no = k.not(yes);
    const equal = [k.eq(yes, no), k.eq(no, no), k.ne(yes, no), k.ne(yes, true)];
    const results = [k.or(yes, no), k.and(yes, no), k.xor(yes, no), k.xor(yes, yes), ...equal];
    results.forEach((result, index) => k.store(k.at(data, index), k.select(result, k.constant(k.types.int(32), 1), 0)));
  }),
  feature(
    'ids',
    zeros(8),
    ramp(8).map((id) => id + 8 * 100 + 10_000),
    (k, data) => {
      const id = k.add(k.add(k.globalId(0), k.mul(k.groupSize(0), 100)), k.mul(k.groupCount(0), 10_000));
      const own = k.add(k.mul(k.groupId(0), 8), k.localId(0));
      k.store(k.at(data, own), k.uconvert(k.add(id, k.globalId(1)), k.types.int(32)));
    },
    { items: 8 },
  ),
  feature(
    'a multiplication and an addition with a rounding each',
    bits(1 + 2 ** -12, -1 - 2 ** -11),
    bits(1 + 2 ** -12, 0),
    (k, data) => {
      const p = floats(k, data);
      const x = k.load(p);
      k.store(k.at(p, 1), k.add(k.mul(x, x), k.load(k.at(p, 1))));
    },
    { kernel: { contraction: 'off' } },
  ),
];

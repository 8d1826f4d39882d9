import type { Kernel, KernelBuilder, Value } from '@concord/backend-core/kernel';
import { define, kernelsOf, type KernelTable } from './kernel-table.ts';

type Float = Value<'f32'>;
const oneInput = (compute: (k: KernelBuilder, x: Float) => Record<string, Float>): KernelTable[string] =>
  define({ inputs: { x: 'f32' } }, ({ x }, k) => compute(k, x));

const variance = (k: KernelBuilder, x: Float): Float => {
  const centred = k.sub(x, k.fold('mean', x));
  return k.fold('mean', k.mul(centred, centred));
};

/** The kernels that are written out, by name: what real programs fold and map, and one for each rule of the contract. */
export const HAND_KERNELS: KernelTable = {
  copy: oneInput((k, x) => ({ y: k.spread(x) })),
  'copy i32': define({ inputs: { x: 'i32' } }, ({ x }) => ({ y: x })),
  'copy u32': define({ inputs: { x: 'u32' } }, ({ x }) => ({ y: x })),
  'swap by select': define({ inputs: { a: 'f32', b: 'f32' } }, ({ a, b }, k) => {
    const isEven = k.eq(k.and(k.random(3, k.index(-1), 5), 1), 0);
    return { y: k.select(isEven, a, b), z: k.select(isEven, b, a) };
  }),
  add: define({ inputs: { a: 'f32', b: 'f32' } }, ({ a, b }, k) => ({ y: k.add(a, b) })),
  'sub i32': define({ inputs: { a: 'i32', b: 'i32' } }, ({ a, b }, k) => ({ y: k.sub(a, b) })),
  'mul u32': define({ inputs: { a: 'u32', b: 'u32' } }, ({ a, b }, k) => ({ y: k.mul(a, b) })),
  'sum and difference': define({ inputs: { a: 'f32', b: 'f32' } }, ({ a, b }, k) => ({
    sum: k.add(a, b),
    difference: k.sub(a, b),
  })),
  softmax: oneInput((k, x) => {
    const e = k.name('exponentials', k.exp(k.sub(x, k.fold('max', x))));
    return { y: k.div(e, k.fold('sum', e)) };
  }),
  'log softmax': oneInput((k, x) => {
    const shifted = k.sub(x, k.fold('max', x));
    return { y: k.sub(shifted, k.log(k.fold('sum', k.exp(shifted)))) };
  }),
  variance: oneInput((k, x) => ({ y: k.name('variance', variance(k, x)), mean: k.fold('mean', x) })),
  layerNorm: define(
    { inputs: { x: 'f32', weight: 'f32', bias: 'f32' }, params: { eps: 'f32' } },
    ({ x, weight, bias, eps }, k) => {
      const scaled = k.mul(k.sub(x, k.fold('mean', x)), k.rsqrt(k.add(variance(k, x), eps)));
      return { y: k.add(k.mul(scaled, weight), bias) };
    },
  ),
  rmsNorm: define({ inputs: { x: 'f32' }, params: { eps: 'f32' } }, ({ x, eps }, k) => ({
    y: k.mul(x, k.rsqrt(k.add(k.fold('mean', k.mul(x, x)), eps))),
  })),
  'max of what exceeds the mean of integers': define({ inputs: { x: 'i32' } }, ({ x }, k) => {
    const mean = k.div(k.fold('sum', x), k.toI32(k.extent(-1)));
    const above = k.gt(x, mean);
    return {
      greatest: k.fold('max', k.select(above, x, k.i32(-(2 ** 31)))),
      count: k.fold('count', above),
      y: k.sub(x, mean),
    };
  }),
  'three folds in a chain': define({ inputs: { x: 'i32', r: { type: 'i32', level: 'row' } } }, ({ x, r }, k) => {
    const first = k.fold('max', k.add(x, r));
    const second = k.fold('sum', k.xor(x, first));
    const third = k.fold('min', k.sub(k.mul(x, r), second));
    return { y: k.add(third, x), first, second, third };
  }),
  'row from call': define(
    { inputs: { x: 'f32', r: { type: 'f32', level: 'row' } }, params: { p: 'f32' } },
    ({ x, r, p }, k) => ({ row: k.mul(r, p), y: k.sub(k.add(x, r), p), spread: k.spread(k.add(r, 1)) }),
  ),
  'fold of a row and of the call': define(
    { inputs: { r: { type: 'i32', level: 'row' } }, params: { p: 'i32' } },
    ({ r, p }, k) => ({
      rows: k.fold('sum', r),
      call: k.fold('sum', k.mul(p, 3)),
      place: k.add(k.rowIndex(0), k.mul(k.rowIndex(-1), 1000)),
    }),
  ),
  'spread of the call': define({ params: { p: 'u32' } }, ({ p }, k) => ({
    y: k.spread(k.mul(p, 7)),
    constant: k.spread(k.f32(-0.75)),
  })),
  'functions of parameters': define({ inputs: { x: 'f32' }, params: { p: 'f32', q: 'f32' } }, ({ x, p, q }, k) => {
    const decay = (power: Float): Float => k.pow(k.exp(k.neg(k.abs(p))), k.add(k.abs(power), 1));
    const factor = k.log1p(k.div(k.sqrt(k.sub(1.25, decay(q))), k.sub(1.5, decay(k.sin(q)))));
    return { y: k.mul(factor, x), factor: k.spread(factor) };
  }),
  extents: define({ inputs: { x: 'u32' } }, ({ x }, k) => ({
    y: k.add(k.add(x, k.mul(k.index(0), 10_000)), k.index(-1)),
    sizes: k.spread(k.add(k.mul(k.extent(0), 1000), k.extent(-1))),
  })),
  'sum and max of rows': define({ inputs: { x: 'i32' } }, ({ x }, k) => ({
    sum: k.fold('sum', x),
    max: k.fold('max', x),
  })),
  'first of each': oneInput((k, x) => ({ y: k.toF32(k.fold('argmax', x)), z: k.toF32(k.fold('argmin', x)) })),
  'random floats': define({ params: { seed: 'u32' } }, ({ seed }, k) => {
    const place = k.add(k.mul(k.index(0), k.extent(-1)), k.index(-1));
    return { bits: k.random(seed, place, 1), y: k.mul(k.toF32(k.shr(k.random(seed, place, 2), 8)), 2 ** -24) };
  }),
  scale: define({ inputs: { x: 'f32' }, params: { p: 'f32' } }, ({ x, p }, k) => ({ y: k.mul(x, p) })),
  cast: oneInput((k, x) => ({ y: k.mul(x, 1.0009765625) })),
  clamp: define({ inputs: { x: 'f32', low: 'f32' }, params: { high: 'f32' } }, ({ x, low, high }, k) => ({
    y: k.clamp(x, low, high),
    whole: k.clamp(k.toI32(x), -100, 100),
  })),
  'eight operands with three in place': define(
    { inputs: { a: 'f32', b: 'i32', c: 'u32', d: 'f32', e: 'i32', f: 'u32', g: 'f32' } },
    ({ a, b, c, d, e, f, g }, k) => ({
      a: k.sub(a, d),
      b: k.xor(b, k.toI32(c)),
      c: k.select(k.lt(a, g), f, k.toU32(k.add(b, e))),
      y: k.add(d, g),
    }),
  ),
  'rows in place': define({ inputs: { x: 'f32', z: 'f32', w: 'f32' } }, ({ x, z, w }, k) => {
    const most = k.fold('max', x);
    const centred = k.sub(x, most);
    return { x: k.add(centred, z), z: k.sub(w, x), sum: k.fold('sum', k.mul(centred, w)), most };
  }),
  'both operands of seven': define({ inputs: { a: 'f32', b: 'i32', c: 'u32', d: 'f32' } }, ({ a, b, c, d }, k) => ({
    x: k.sub(a, d),
    y: k.xor(b, k.toI32(c)),
    z: k.select(k.lt(a, d), c, k.toU32(b)),
  })),
};

/** One of {@link HAND_KERNELS}. */
export const handKernel: (name: string) => Kernel = kernelsOf(HAND_KERNELS);

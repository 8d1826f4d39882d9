import {
  defineKernel,
  type Kernel,
  type NumberType,
  SCAN_OPS,
  type ScanOp,
  type Value,
} from '@concord/backend-core/kernel';

/** Both scans of an operand in one direction. */
function scanKernel(name: string, op: ScanOp, type: NumberType, reverse: boolean): Kernel {
  return defineKernel(name, { inputs: { x: type } }, (symbols, k) => {
    const x = symbols.x as Value<NumberType>;
    return { y: k.scan(op, x, { reverse }), z: k.scan(op, x, { exclusive: true, reverse }) };
  });
}

/** Kernels that scan, by name. */
export const SCAN_KERNELS: Readonly<Record<string, () => Kernel>> = {
  ...Object.fromEntries(
    SCAN_OPS.flatMap((op) =>
      (['f32', 'i32', 'u32'] as const).flatMap((type) =>
        [false, true].map((reverse) => {
          const name = `scan ${op} ${type}${reverse ? ' in reverse' : ''}`;
          return [name, () => scanKernel(name, op, type, reverse)];
        }),
      ),
    ),
  ),
  'sum of what a softmax leaves': () =>
    defineKernel('sum of what a softmax leaves', { inputs: { x: 'f32' } }, ({ x }, k) => {
      const largest = k.fold('max', x);
      const e = k.exp(k.sub(x, largest));
      return { y: k.scan('sum', k.div(e, k.fold('sum', e)), { exclusive: true }), largest };
    }),
  'mean so far': () =>
    defineKernel('mean so far', { inputs: { x: 'f32' } }, ({ x }, k) => ({
      y: k.div(k.scan('sum', x), k.toF32(k.add(k.index(-1), 1))),
    })),
  'places counted': () =>
    defineKernel('places counted', { inputs: { x: 'f32', r: { type: 'u32', level: 'row' } } }, ({ x, r }, k) => ({
      // Of the call, of a row and of elements, in one walk.
      ones: k.scan('sum', k.u32(1)),
      rows: k.scan('sum', r, { exclusive: true }),
      lows: k.scan('min', k.index(-1)),
      above: k.scan('sum', k.select(k.gt(x, 0), k.u32(1), 0)),
    })),
  'last place of the largest': () =>
    defineKernel('last place of the largest', { inputs: { x: 'f32' } }, ({ x }, k) => ({
      y: k.sub(k.scan('sum', k.index(-1), { reverse: true }), k.fold('argmax', x)),
      z: k.scan('max', x, { reverse: true }),
    })),
  'what is positive, close together': () =>
    defineKernel(
      'what is positive, close together',
      { inputs: { x: 'f32' }, outputs: { t: { type: 'f32', access: 'scatter', rank: 2, mode: 'set' } } },
      ({ x }, k) => {
        const isKept = k.gt(x, 0);
        const place = k.scan('sum', k.select(isKept, k.u32(1), 0), { exclusive: true });
        return { t: k.scatter(x, [k.rowIndex(0), k.select(isKept, place, 0xffff_ffff)]) };
      },
    ),
};

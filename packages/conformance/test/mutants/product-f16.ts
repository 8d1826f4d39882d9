import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import { mutantsOf, inKernel, type Mutant } from './mutant.ts';
import { type Arithmetic, naiveProduct } from './naive-product.ts';

const roundToF16 = (x: number): number => f16BitsToF32(f32ToF16Bits(x));
const computed = (arithmetic: Arithmetic): Mutant['wrap'] =>
  inKernel('gemm', (call, run) =>
    call.dtype === 'f16' && call.dtypeB === undefined ? naiveProduct(call, arithmetic) : run(call),
  );

function towardZero(x: number): number {
  const bits = f32ToF16Bits(x);
  return Math.abs(f16BitsToF32(bits)) > Math.abs(x) ? bits - 1 : bits;
}

function tiesAway(x: number): number {
  const bits = f32ToF16Bits(x);
  const next = f16BitsToF32(bits + 1);
  return Number.isFinite(next) && Math.abs(x) === (Math.abs(f16BitsToF32(bits)) + Math.abs(next)) / 2 ? bits + 1 : bits;
}

const saturated = (x: number): number => (Math.abs(x) > 65504 ? f32ToF16Bits(Math.sign(x) * 65504) : f32ToF16Bits(x));

const BUGS: Readonly<Record<string, Mutant['wrap']>> = {
  'sums rounded to f16 after every step': computed({ add: (sum, term) => roundToF16(sum + term) }),
  'products rounded to f16 before they are added': computed({ add: (sum, term) => sum + roundToF16(term) }),
  'stores round toward zero': computed({ toF16Bits: towardZero }),
  'stores round ties away from zero': computed({ toF16Bits: tiesAway }),
  'overflow saturates to 65504': computed({ toF16Bits: saturated }),
  'overflow from 65504 on': computed({
    toF16Bits: (x) => (x > 65504 ? 0x7c00 : x < -65504 ? 0xfc00 : f32ToF16Bits(x)),
  }),
  'subnormal results flushed': computed({ toF16Bits: (x) => (Math.abs(x) < 2 ** -14 ? 0 : f32ToF16Bits(x)) }),
  'subnormal inputs flushed': computed({ input: (x) => (Math.abs(x) < 2 ** -14 ? 0 : x) }),
  'the end of an odd row tears its neighbour': inKernel('gemm', (call, run) => {
    run(call);
    if (call.dtype !== 'f16') return;
    // Written as words of two: the second half of the last word belongs to another operand.
    const c = new Uint16Array(call.c.buffer);
    for (let row = 0; row < call.m; row++) {
      const end = call.c.byteOffset / 2 + row * call.ldc + call.n;
      if (end % 2 === 1 && end < c.length) c[end] = 0;
    }
  }),
  'a pointer that is no multiple of 4 is rounded down': inKernel('gemm', (call, run) => {
    if (call.dtype !== 'f16' || call.dtypeB !== undefined || call.b.byteOffset % 4 === 0) return run(call);
    const { buffer, byteOffset, byteLength } = call.b;
    run({ ...call, b: { buffer, byteOffset: byteOffset - 2, byteLength } });
  }),
  'infinite results become NaN': computed({ toF16Bits: (x) => (Math.abs(x) >= 65520 ? 0x7e00 : f32ToF16Bits(x)) }),
};

/** Bugs in the arithmetic of f16. */
export const productF16Mutants: readonly Mutant[] = mutantsOf('gemmF16:', ['gemmF16'], BUGS);

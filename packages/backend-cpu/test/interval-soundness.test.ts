import { type AskedRun, checkedRun } from '@concord/backend-core/kernel';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareStored, type RunData, runReference } from '../src/reference/index.ts';
import { randomKernel, type Step } from './support/random-kernel.ts';
import { StrictDevice } from './support/strict-device.ts';

const ROWS = 3;
const TABLE = 5;

/** mulberry32: numbers in [0, 1) by a seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SPECIALS = [0, -0, 1, -1, 0.5, Number.NaN, Infinity, -Infinity, 2 ** -126, -(2 ** -130), 3.4e38, 1e20, 2 ** 24];

/** Small integers, moderate numbers, numbers of any magnitude, or a few special ones among them. */
function drawData(random: () => number, length: number): RunData {
  const kind = Math.floor(random() * 4);
  const draw = (): number => {
    if (kind === 0) return Math.floor(random() * 17) - 8;
    if (kind === 3 && random() < 0.3) return SPECIALS[Math.floor(random() * SPECIALS.length)] as number;
    const exponent = kind === 2 ? random() * 240 - 120 : random() * 8 - 4;
    return (random() * 2 - 1) * 2 ** exponent;
  };
  const count = ROWS * length;
  return {
    inputs: {
      x: Float32Array.from({ length: count }, draw),
      i: Int32Array.from({ length: count }, () => (random() < 0.8 ? random() * 20 - 8 : (random() - 0.5) * 2 ** 32)),
      u: Uint32Array.from({ length: count }, () => random() * (random() < 0.8 ? 8 : 2 ** 32)),
      r: Float32Array.from({ length: ROWS }, draw),
      t: Float32Array.from({ length: TABLE }, draw),
    },
    params: { p: draw() },
  };
}

const number = fc.nat({ max: 2 ** 20 });
const steps: fc.Arbitrary<Step[]> = fc.array(fc.tuple(number, fc.nat(5), fc.nat(5), fc.nat(5)), {
  minLength: 1,
  maxLength: 24,
});

/** Sees to it that what the device stores is within the intervals, and that these are not all useless. */
function expectInside(chosen: readonly Step[], length: number, narrow: number, seed: number): number {
  const random = generator(seed);
  const kernel = randomKernel(chosen);
  const dtypes = { f32: ['f32', 'f16', 'bf16'], i32: ['i32', 'i8', 'i8'], u32: ['u32', 'u8', 'u8'] } as const;
  const [y] = kernel.outputs;
  const geometry = checkedRun(kernel, {
    shape: [ROWS, length],
    folded: 1,
    inputs: { t: { shape: [TABLE] } },
    outputs: { y: { dtype: dtypes[y?.type ?? 'f32'][narrow] } },
  } as AskedRun);
  const data = drawData(random, length);
  const flushes = random() < 0.7;
  const wanted = runReference(geometry, data, { subnormals: flushes ? 'may-flush' : 'kept' });
  const stored = new StrictDevice(geometry, data, random, flushes).run();
  for (const [index, output] of wanted.entries()) {
    expect(
      compareStored(output, stored[index] as Float32Array),
      JSON.stringify({ chosen, length, seed }),
    ).toBeUndefined();
  }
  return wanted[0]?.uselessShare ?? 0;
}

it('holds what a device gives that takes every freedom, for random kernels', () => {
  const shares: number[] = [];
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 9 }), fc.nat(2), fc.nat(), (chosen, length, narrow, seed) => {
      shares.push(expectInside(chosen, length, narrow, seed));
    }),
    { numRuns: 1500, seed: 20_250_101 },
  );
  // An oracle that says "anything" is sound too.
  const useful = shares.filter((share) => share < 0.02).length / shares.length;
  expect(useful).toBeGreaterThan(0.5);
});

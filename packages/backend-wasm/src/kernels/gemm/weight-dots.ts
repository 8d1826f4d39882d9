import type { NamesIn } from '@concord/variants';
import type { FloatDType } from '@concord/backend-core';
import {
  callStatement,
  f32,
  f32x4,
  type FunctionBody,
  type FunctionHandle,
  i16x8,
  i32,
  i32x4,
  i8x16,
  type Local,
  type ModuleBuilder,
  v128,
  type Value,
} from '../../encoder/index.ts';
import { Arguments } from '../common/arguments.ts';
import { floatStorage } from '../common/float-storage.ts';
import { lesser, multiplyAdd, wordsOfShuffle } from '../common/integers.ts';
import type { WasmTraits } from '../kernel.ts';
import { sumsOfFour } from './vector-dots.ts';

/** A matrix of integers as its code knows it. */
export interface IntegerForm {
  readonly bits: 4 | 8;
  readonly isSigned: boolean;
  /** Blocks have zeros of the integers' type; else all have the same. */
  readonly hasZeros: boolean;
  readonly scales: FloatDType;
}

/** Elements that are read at once: 16 bytes. */
export const unitOf = ({ bits }: Pick<IntegerForm, 'bits'>): number => 128 / bits;

const BLOCK_WORDS = 'scales scaleBatch scaleRow scaleBlock zeros zeroBatch zeroRow zeroBlock block zero';

/** The arguments of a matrix of integers beside those of any. Strides count elements. */
export const BLOCKS: Arguments<NamesIn<typeof BLOCK_WORDS>> = new Arguments([BLOCK_WORDS]);

/**
 * `(sums, matrix, strideBytes, x, count, depth, blocks, scale, zero)`: `sums[i] += M[i] x`, sums and x as float32. `blocks` is the
 * address of {@link BLOCKS}; `scale` and `zero` are the numbers of those of the first block. The depth is a multiple of
 * {@link unitOf}, as the blocks are; sums are there for a multiple of four rows.
 */
export type WeightDots = FunctionHandle<
  readonly ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  'none'
>;

const PARAMS = ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'] as const;
const ROWS = [0, 1, 2, 3] as const;

/** Adds the loop for rows of integers, which are decoded in registers. */
export function addWeightDots(module: ModuleBuilder, traits: WasmTraits, form: IntegerForm): WeightDots {
  // `(q - zero) x` may overflow where `w x` does not: then four rows are summed again, with the scale first.
  const careful = addFourRows(module, traits, form);
  const fast = addFourRows(module, traits, form, careful);
  return module.function(
    { params: PARAMS, result: 'none' },
    (body, sums, matrix, stride, x, count, depth, blocks, scale, zero) => {
      body.for(0, count, 4, (row) => {
        const after = (first: Value<'i32'>, step: Value<'i32'>): Value<'i32'> => i32.add(first, i32.mul(row, step));
        const place = [i32.add(sums, i32.shl(row, 2)), after(matrix, stride), stride, x, i32.sub(count, row)] as const;
        const scaleRow = BLOCKS.word(blocks, 'scaleRow');
        const zeroRow = BLOCKS.word(blocks, 'zeroRow');
        body.emit(callStatement(fast, ...place, depth, blocks, after(scale, scaleRow), after(zero, zeroRow)));
      });
    },
  );
}

/**
 * Adds the products of four rows with x to their sums; rows beyond `count` are the last one.
 *
 * @param careful - what to call instead where a sum is not finite; without it elements are scaled first
 */
function addFourRows(module: ModuleBuilder, traits: WasmTraits, form: IntegerForm, careful?: WeightDots): WeightDots {
  const madd = multiplyAdd(traits);
  const { bits, isSigned, hasZeros } = form;
  const unit = unitOf(form);
  return module.function(
    { params: PARAMS, result: 'none' },
    (body, sums, matrix, stride, x, count, depth, blocks, scale, zero) => {
      const scales = floatStorage(form.scales, body);
      const ofRow = (first: Local<'i32'>, step: Value<'i32'>, row: number): Local<'i32'> =>
        body.let(i32.add(first, i32.mul(lesser(row, i32.sub(count, 1)), step)));
      const sources = ROWS.map((row) => ofRow(matrix, stride, row));
      const scaleAt = ROWS.map((row) => ofRow(scale, BLOCKS.word(blocks, 'scaleRow'), row));
      const zeroAt = ROWS.map((row) => ofRow(zero, BLOCKS.word(blocks, 'zeroRow'), row));
      const totals = ROWS.map(() => body.let(f32x4.splat(0)));
      // Addresses, numbers and steps of a loop are locals: a load in each turn would be as long as a block of 32.
      const words = Object.fromEntries(BLOCKS.names.map((name) => [name, body.let(BLOCKS.word(blocks, name))]));
      const word = (name: (typeof BLOCKS.names)[number]): Local<'i32'> => words[name] as Local<'i32'>;
      const low = bits === 4 ? body.let(i32x4.splat(0x0f0f0f0f)) : undefined;
      const flip = isSigned ? body.let(i32x4.splat(bits === 4 ? 0x88888888 | 0 : 0x80808080 | 0)) : undefined;
      const none = body.let(i32x4.splat(0));
      const upper = body.let(i32x4.splat((MAGIC >>> 16) * 0x10001));
      const zeros = ROWS.map(() => body.let(baseOf(word('zero'))));
      const from = body.let(x);
      const length = body.local('i32');
      const all = body.local('v128');
      const factors = ROWS.map(() => body.local('v128'));
      const partial = ROWS.map(() => body.local('v128'));
      body.for(0, depth, word('block'), (at) => {
        body.set(length, lesser(word('block'), i32.sub(depth, at)));
        const places = scaleAt.map((place) => i32.add(word('scales'), i32.shl(place, scales.shift)));
        body.set(all, scales.gather4(places));
        for (const row of ROWS) {
          body.set(partial[row] as Local<'v128'>, f32x4.splat(0));
          body.set(factors[row] as Local<'v128'>, i8x16.shuffle(all, all, wordsOfShuffle(row, row, row, row)));
          if (!hasZeros) continue;
          const place = zeroAt[row] as Local<'i32'>;
          body.set(zeros[row] as Local<'v128'>, baseOf(zeroOf(form, word('zeros'), place)));
          body.increase(place, word('zeroBlock'));
        }
        body.for(0, length, unit, () => {
          for (const row of ROWS) {
            const source = sources[row] as Local<'i32'>;
            const stored = flip === undefined ? v128.load(source) : v128.xor(v128.load(source), flip);
            const bytes = body.let(stored);
            body.increase(source, 16);
            const halves = low === undefined ? [bytes] : [v128.and(bytes, low), v128.and(i16x8.shrU(bytes, 4), low)];
            for (const [half, sixteen] of halves.entries()) {
              const floats = floatsOf(body, sixteen, { none, upper, zero: zeros[row] as Local<'v128'> });
              for (const [four, q] of floats.entries()) {
                const w = careful === undefined ? f32x4.mul(q, factors[row] as Local<'v128'>) : q;
                const sum = partial[row] as Local<'v128'>;
                body.set(sum, madd(w, v128.load(from, 64 * half + 16 * four), sum));
              }
            }
          }
          body.increase(from, 4 * unit);
        });
        for (const row of ROWS) {
          const total = totals[row] as Local<'v128'>;
          const part = partial[row] as Local<'v128'>;
          const factor = factors[row] as Local<'v128'>;
          body.set(total, careful === undefined ? f32x4.add(total, part) : madd(part, factor, total));
          body.increase(scaleAt[row] as Local<'i32'>, word('scaleBlock'));
        }
      });
      const sum = body.let(sumsOfFour(body, totals));
      const store = (): void => body.emit(v128.store(sums, f32x4.add(v128.load(sums), sum)));
      if (careful === undefined) {
        store();
        return;
      }
      const isFinite = f32x4.lt(f32x4.abs(sum), f32x4.splat(f32.const(Infinity)));
      body.if(
        v128.anyTrue(v128.not(isFinite)),
        () => body.emit(callStatement(careful, sums, matrix, stride, x, count, depth, blocks, scale, zero)),
        store,
      );
    },
  );
}

/** The zero of a block as it is subtracted from its integers, those of signed types with flipped sign bits. */
function zeroOf({ bits, isSigned }: IntegerForm, zeros: Local<'i32'>, at: Local<'i32'>): Value<'i32'> {
  const withFlippedSign = (zero: Value<'i32'>): Value<'i32'> => (isSigned ? i32.xor(zero, 2 ** (bits - 1)) : zero);
  if (bits === 8) return withFlippedSign(i32.load8U(i32.add(zeros, at)));
  const byte = i32.load8U(i32.add(zeros, i32.shrU(at, 1)));
  return withFlippedSign(i32.and(i32.shrU(byte, i32.shl(i32.and(at, 1), 2)), 15));
}

/** The bits of 2^23 as float32: with an integer below 2^16 in its lower half it is greater by that. */
const MAGIC = 0x4b000000;

/** Returns the excess of an integer in {@link MAGIC} over itself less a zero, four times. */
const baseOf = (zero: Value<'i32'>): Value<'v128'> => i32x4.splat(i32.add(zero, MAGIC));

const LOW_BYTES = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((at) => [at, 16 + at]);
const LOW_PAIRS = [0, 2, 4, 6].flatMap((at) => [at, at + 1, 16 + at, 17 + at]);
const high = (places: readonly number[]): readonly number[] => places.map((place) => place + 8);

/**
 * 16 integers, less a zero, four at a time. They are made the lower halves of float32, which takes fewer instructions than to
 * convert them; the subtraction is exact.
 */
function floatsOf(
  body: FunctionBody,
  bytes: Value<'v128'>,
  { none, upper, zero }: Readonly<Record<'none' | 'upper' | 'zero', Local<'v128'>>>,
): readonly Value<'v128'>[] {
  const sixteen = body.let(bytes);
  return [LOW_BYTES, high(LOW_BYTES)].flatMap((places) => {
    const eight = body.let(i8x16.shuffle(sixteen, none, places));
    return [LOW_PAIRS, high(LOW_PAIRS)].map((pairs) => f32x4.sub(i8x16.shuffle(eight, upper, pairs), zero));
  });
}

/** Adds `(x, depth)`, which moves the 16 even elements of each 32 before the odd ones, as the halves of bytes lie. */
export function addDeinterleave(module: ModuleBuilder): FunctionHandle<readonly ['i32', 'i32'], 'none'> {
  return module.function({ params: ['i32', 'i32'], result: 'none' }, (body, x, depth) => {
    body.for(0, depth, 32, () => {
      const all = Array.from({ length: 8 }, (_, i) => body.let(v128.load(x, 16 * i)));
      for (const [half, places] of [wordsOfShuffle(0, 2, 4, 6), wordsOfShuffle(1, 3, 5, 7)].entries()) {
        for (let i = 0; i < 4; i++) {
          const [a, b] = [all[2 * i], all[2 * i + 1]] as [Local<'v128'>, Local<'v128'>];
          body.emit(v128.store(x, i8x16.shuffle(a, b, places), 64 * half + 16 * i));
        }
      }
      body.increase(x, 128);
    });
  });
}

import { ofType, type WeightForm } from '@concord/variants';
import type { FloatDType } from '@concord/backend-core';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { groupIndex } from '../work.ts';
import { decode } from '../arithmetic/storage.ts';
import { defineKernel, type Kernel, type ParameterType, variants } from '../kernel.ts';
import { loadElement, storeResult } from './storage.ts';
import { sumOfComponents, sumOfTeam } from './vectors.spv.ts';

/** The parameters of {@link weightRows}. */
export interface WeightRowsParams extends WeightForm {
  readonly input: FloatDType;
  readonly output: FloatDType;
  /** Lines of A at a time. */
  readonly lines: 1 | 4;
  /** Work-items that share a row of B: one on processors. */
  readonly team: 1 | 64;
  /** The size of sub-groups to ask for. */
  readonly lanes: 16 | undefined;
}

/** Elements that are decoded at once. */
export const UNIT = 8;
/** Rows of B of a group. */
export const rowsOf = ({ team }: Pick<WeightRowsParams, 'team'>): number => (team === 1 ? 1 : 4);

/** A unit of 4 bits is a word. */
const STORED_AS = { f32: 'f32', f16: 'f16', bf16: 'u16', u8: 'u8', u4: 'u32' } as const;

/** Strides of a B of 4 bits count words. */
const SIZES = 'n k lines a_ld a_stride b_ld b_stride c_ld c_stride';
/** Blocks are of `2^block_shift` elements; strides count their numbers. */
const BLOCKS = 'block_shift scale_batch scale_row scale_block zero_batch zero_row zero_block';

function parametersOf(params: WeightRowsParams): Record<string, ParameterType> {
  const { input, output, weights } = params;
  const operands = { a: `${input}*`, b: `${STORED_AS[weights]}*`, c: `${output}*` } as const;
  const own = { ...operands, ...ofType('u64', SIZES), ...ofType('f32', 'alpha beta') };
  const { scales, zeros } = params;
  if (scales === undefined) return own;
  return {
    ...own,
    scales: `${scales}*`,
    ...(zeros === 'one' ? {} : { zeros: zeros === 'own' ? 'u8*' : `${scales}*` }),
    ...ofType('u64', BLOCKS),
    ...{ flip: 'u32', zero: 'f32' },
  };
}

/**
 * `C = alpha A B^T + beta C` for a few lines of A and a B that is stored otherwise than A, which is decoded in registers and
 * read once for `lines` lines. Rows of B lie along k, which is a multiple of {@link UNIT}, as blocks are.
 *
 * On GPUs a team of work-items shares a row of B, each with every 64th unit, and adds up its sums in workgroup memory; rows
 * beyond the last are the last one again, and not written. On processors a work-item has a row to itself.
 */
export const weightRows: (params: WeightRowsParams) => Kernel = variants((params: WeightRowsParams) => {
  const { lines: each, team, lanes, ...form } = params;
  const { input, output } = form;
  const rows = rowsOf(params);
  return defineKernel({
    name: `gemm/weight-rows ${Object.values(form).join(' ')} ${each}x${team}${lanes === undefined ? '' : ` of ${lanes}`}`,
    parameters: parametersOf(params),
    groupSize: [team, rows, 1],
    subgroupSize: lanes,
    write: (k, { module, args: given }) => {
      const args = given as Readonly<Record<string, Value>> & Readonly<Record<'n' | 'k' | 'lines', Value>>;
      const word = (name: string): Value => args[name] as Value;
      const f32 = module.float(32);
      const eight = module.vector(f32, UNIT);
      const batch = k.groupId(2);
      const wanted = k.add(k.mul(groupIndex(k), rows), k.localId(1));
      const row = k.math('u_min', wanted, k.sub(args.n, 1));
      const place = (kind: string): Value =>
        k.add(k.mul(batch, word(`${kind}_batch`)), k.mul(row, word(`${kind}_row`)));
      const bRow = k.at(word('b'), k.add(k.mul(batch, word('b_stride')), k.mul(row, word('b_ld'))));
      const weightsAt = decoderOf(k, params, word, bRow, place);
      const a = k.at(word('a'), k.mul(batch, word('a_stride')));
      const partial = team === 1 ? undefined : k.localArray(f32, rows * team);

      k.forLoop({ to: args.lines, step: each, unroll: 'dont-unroll' }, [], (first) => {
        const line = (index: number): Value => k.math('u_min', k.add(first, index), k.sub(args.lines, 1));
        const xs = Array.from({ length: each }, (_, index) => k.at(a, k.mul(line(index), word('a_ld'))));
        const range = { from: k.mul(k.localId(0), UNIT), to: args.k, step: team * UNIT };
        const zeros = xs.map(() => k.constant(eight, 0));
        const sums = k.forLoop(range, zeros, (p, before) => {
          const w = weightsAt(p);
          return xs.map((x, index) => k.fma(w, loadElement(k, input, k.at(x, p), UNIT), before[index] as Value));
        });
        sums.forEach((components, index) => {
          let sum = sumOfComponents(k, components);
          if (partial !== undefined) {
            const own = k.at(partial, k.add(k.mul(k.localId(1), team), k.localId(0)));
            sumOfTeam(k, { place: own, lane: k.localId(0), size: team, step: 1 }, sum);
            sum = k.load(own);
          }
          const isStored = k.and(k.ult(wanted, args.n), k.ult(k.add(first, index), args.lines));
          k.when(k.and(isStored, k.eq(k.localId(0), 0)), () => {
            const column = k.add(k.mul(batch, word('c_stride')), row);
            const entry = k.at(word('c'), k.add(column, k.mul(k.add(first, index), word('c_ld'))));
            storeResult(k, output, entry, { sum, alpha: word('alpha'), beta: word('beta') });
          });
        });
      });
    },
  });
});

/** Returns what reads {@link UNIT} weights of a row from element `p` on, as float32. */
function decoderOf(
  k: FunctionBuilder,
  params: WeightRowsParams,
  word: (name: string) => Value,
  row: Value,
  place: (kind: 'scale' | 'zero') => Value,
): (p: Value) => Value {
  const { types } = k;
  const eight = types.vector(types.float(32), UNIT);
  const { weights, scales, zeros } = params;
  if (scales === undefined) {
    if (weights === 'f32' || weights === 'f16') return (p) => loadElement(k, weights, k.at(row, p), UNIT);
    return (p) => decode(k, k.loadVector(k.at(row, p), UNIT), 'bf16');
  }
  const words = types.vector(types.int(32), UNIT);
  const flip = k.splat(words, word('flip'));
  const zero = k.splat(eight, word('zero'));
  const [scaleAt, zeroAt] = [place('scale'), zeros === 'one' ? undefined : place('zero')];
  const integers = (p: Value): Value => {
    if (weights === 'u8') return k.uconvert(k.loadVector(k.at(row, p), UNIT, { align: 4 }), words);
    const places = k.vector(words, ...Array.from({ length: UNIT }, (_, index) => 4 * index));
    const four = k.splat(words, k.load(k.at(row, k.lshr(p, 3))));
    return k.and(k.lshr(four, places), k.constant(words, 15));
  };
  /** The own zero of a block, as unsigned as the weights. */
  const ownZero = (at: Value): Value => {
    const byte = k.uconvert(k.load(k.at(word('zeros'), weights === 'u8' ? at : k.lshr(at, 1))), types.int(32));
    if (weights === 'u8') return k.xor(byte, word('flip'));
    const shift = k.mul(k.and(k.uconvert(at, types.int(32)), 1), 4);
    return k.xor(k.and(k.lshr(byte, shift), 15), word('flip'));
  };
  return (p) => {
    const q = k.utof(k.xor(integers(p), flip), eight);
    const block = k.lshr(p, word('block_shift'));
    const numberAt = (name: 'scales' | 'zeros', first: Value, step: string): Value =>
      k.splat(eight, loadElement(k, scales, k.at(word(name), k.add(first, k.mul(block, word(step))))));
    const scale = numberAt('scales', scaleAt, 'scale_block');
    if (zeroAt === undefined) return k.mul(k.sub(q, zero), scale);
    if (zeros === 'offsets') return k.fma(k.sub(q, zero), scale, numberAt('zeros', zeroAt, 'zero_block'));
    const own = k.utof(ownZero(k.add(zeroAt, k.mul(block, word('zero_block')))), types.float(32));
    return k.mul(k.sub(q, k.splat(eight, own)), scale);
  };
}

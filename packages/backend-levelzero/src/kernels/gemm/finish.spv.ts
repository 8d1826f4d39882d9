import { ofType } from '@concord/variants';
import type { FloatDType } from '@concord/backend-core';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { gridOf, groupIndex } from '../work.ts';
import { defineKernel, type Kernel, type ParameterType, variants } from '../kernel.ts';
import type { Launch, Recorder } from '../recorder.ts';
import type { Matrix } from './product.ts';
import { resultOf, storeElement } from './storage.ts';

/** Work-items of a group. */
const GROUP = 64;

/** Entries of a row that one work-item of a processor sets; neighbours on GPUs have neighbouring entries. */
const EACH_ON_PROCESSORS = 1024;

/** The definition of a kernel for {@link defineEntriesKernel}. */
interface EntriesSource<Names extends string> {
  readonly name: string;
  readonly output: FloatDType;
  readonly parameters: Readonly<Record<Names, ParameterType>>;
  /** The new value, f32, of entry `index` of the packed batch; `entry` points to it. */
  readonly value: (k: FunctionBuilder, args: Readonly<Record<Names, Value>>, index: Value, entry: Value) => Value;
}

/**
 * A kernel that sets each entry of a batch of C, and nothing between them. A work-item sets `each` neighbouring entries
 * of a row.
 */
function defineEntriesKernel<Names extends string>(source: EntriesSource<Names>): Kernel {
  const { name, output, parameters, value } = source;
  const own: Record<string, ParameterType> = parameters;
  return defineKernel<string>({
    name,
    parameters: {
      c: `${output}*`,
      ...ofType('u64', 'n m c_ld c_stride each pieces units'),
      ...own,
    },
    groupSize: [GROUP, 1, 1],
    write: (k, { args: all }) => {
      // Every name above is there.
      const args = all as Record<string, Value> & Record<Names, Value>;
      const { c, n, m, c_ld, c_stride, each, pieces, units } = args as Record<string, Value> as Record<
        'c' | 'n' | 'm' | 'c_ld' | 'c_stride' | 'each' | 'pieces' | 'units',
        Value
      >;
      const unit = k.add(k.mul(groupIndex(k), GROUP), k.localId(0));
      k.when(k.ult(unit, units), () => {
        const line = k.udiv(unit, pieces);
        const from = k.mul(k.umod(unit, pieces), each);
        const to = k.math('u_min', k.add(from, each), n);
        const row = k.add(k.mul(k.udiv(line, m), c_stride), k.mul(k.umod(line, m), c_ld));
        const start = k.mul(line, n);
        k.forLoop({ from, to }, [], (column) => {
          const entry = k.at(c, k.add(row, column));
          storeElement(k, output, entry, value(k, args, k.add(start, column), entry));
        });
      });
    },
  });
}

/** Launches such a kernel for all entries of a batch of C. */
export function launchEntries(
  recorder: Recorder,
  kernel: Kernel,
  shape: { readonly m: number; readonly n: number; readonly batchCount: number; readonly c: Matrix },
  own: Launch['args'],
): void {
  const { m, n, c, rows } = tidied(shape);
  const each = recorder.traits.isCpuLike ? EACH_ON_PROCESSORS : 1;
  const pieces = Math.ceil(n / each);
  const units = rows * pieces;
  const place = { c: c.span, n, m, c_ld: c.ld, c_stride: c.stride };
  recorder.launch({
    kernel,
    args: { ...place, each, pieces, units, ...own },
    groups: gridOf(Math.ceil(units / GROUP), recorder.traits),
  });
}

/** A matrix without gaps is one long row. */
function tidied(shape: { readonly m: number; readonly n: number; readonly batchCount: number; readonly c: Matrix }) {
  const { m, n, batchCount, c } = shape;
  const isPacked = (m === 1 || c.ld === n) && (batchCount === 1 || c.stride === m * n);
  return isPacked ? { m: 1, n: batchCount * m * n, c, rows: 1 } : { m, n, c, rows: batchCount * m };
}

/**
 * `C = alpha (sum of partial sums) + beta C`, after a product whose k was cut into ranges: the packed sums of range s
 * begin `s * split_stride` elements on. C is not read where beta is 0.
 */
export const finish: (params: { readonly output: FloatDType }) => Kernel = variants(({ output }) =>
  defineEntriesKernel({
    name: `gemm/finish ${output}`,
    output,
    parameters: { sums: 'f32*', splits: 'u64', split_stride: 'u64', alpha: 'f32', beta: 'f32' },
    value: (k, { sums, splits, split_stride, alpha, beta }, index, entry) => {
      const zero = k.constant(alpha.type, 0);
      const [sum] = k.forLoop({ to: splits }, [zero, k.at(sums, index)], (_, [before, place]) => [
        k.add(before as Value, k.load(place as Value)),
        k.at(place as Value, split_stride),
      ]);
      return resultOf(k, output, entry, { sum: sum as Value, alpha, beta });
    },
  }),
);

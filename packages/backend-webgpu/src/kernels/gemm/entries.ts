import { defineKernel, type Kernel, type StorageBinding, type UniformType } from '../kernel.ts';
import { halfBits } from '../wgsl/half.wgsl.ts';
import { featuresFor, type OutputFormat, outputType, TO_F16 } from './storage-formats.ts';

/** Invocations of a workgroup; each has one unit of {@link entryUnits}. */
export const ENTRIES_GROUP = 256;

/** What {@link defineEntriesKernel} makes a kernel of. */
export interface EntriesSource {
  readonly name: string;
  readonly output: OutputFormat;
  readonly storage?: Readonly<Record<string, StorageBinding>>;
  readonly uniforms?: Readonly<Record<string, UniformType>>;
  /** Declares `entry_value(index: u32, old: f32) -> f32`: the new value of entry `index` of the packed batch. */
  readonly value: string;
}

/** Shape and place of C, as the uniforms of a kernel for its entries take it. */
export interface EntriesShape {
  readonly m: number;
  readonly n: number;
  readonly batchCount: number;
  readonly ld: number;
  readonly stride: number;
  /** Elements from the start of the binding to the first entry. */
  readonly start: number;
  /** Whether old entries are read; else they are taken for 0. */
  readonly readsC: boolean;
}

/**
 * A kernel that sets each entry of a batch of C, and nothing between them: `C = entry_value(index, C)`.
 *
 * For `f32` and `f16` each invocation has one entry. Without `f16`, two elements share a word of 32 bits, which must have
 * one owner: each invocation has one word of one row. A word with the end of a row and the beginning of the next, of
 * this matrix or of the next one, belongs to the row that ends there; bits of a word that are no entry keep their value.
 */
export function defineEntriesKernel({ name, output, storage, uniforms, value }: EntriesSource): Kernel {
  return defineKernel({
    name,
    storage: { ...storage, c: { access: 'read_write', type: outputType(output, false) } },
    uniforms: { ...ENTRIES_UNIFORMS, ...uniforms },
    features: featuresFor(output, false),
    code: /* wgsl */ `
${output === 'f16' ? TO_F16 : ''}
${output === 'half-words' ? halfBits : ''}
${value}

@compute @workgroup_size(${ENTRIES_GROUP})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let group = group_index(id, grid);
  if (group >= u.group_count) { return; }
  let unit = group * ${ENTRIES_GROUP}u + lane;
  if (unit >= u.units) { return; }
  let line = unit / u.units_per_row;
  let place = unit % u.units_per_row;
  let row = line % u.m;
  let batch = line / u.m;
  let row_start = u.c_start + batch * u.c_stride + row * u.c_ld;
${output === 'half-words' ? setWord : setEntry(output)}
}`,
  });
}

/**
 * Uniforms and number of workgroups for a shape.
 *
 * @param own - the kernel's own uniforms
 */
export function entriesLaunch(
  output: OutputFormat,
  { m, n, batchCount, ld, stride, start, readsC }: EntriesShape,
  own: Readonly<Record<string, number>>,
): { readonly uniforms: Readonly<Record<string, number>>; readonly groups: number } {
  // An odd start makes a row reach into one more word.
  const unitsPerRow = output === 'half-words' ? Math.floor(n / 2) + 1 : n;
  const units = batchCount * m * unitsPerRow;
  // Spreading `own` into the literal is many times slower.
  const uniforms = {
    m,
    n,
    c_ld: ld,
    c_stride: stride,
    c_start: start,
    reads_c: Number(readsC),
    units,
    units_per_row: unitsPerRow,
    rows_touch: Number(m > 1 && ld === n),
    batches_touch: Number(batchCount > 1 && stride === (m - 1) * ld + n),
    batches: batchCount,
  };
  return { uniforms: Object.assign(uniforms, own), groups: Math.ceil(units / ENTRIES_GROUP) };
}

const ENTRIES_UNIFORMS: Readonly<Record<string, UniformType>> = {
  m: 'u32',
  n: 'u32',
  c_ld: 'u32',
  c_stride: 'u32',
  c_start: 'u32',
  reads_c: 'u32',
  units: 'u32',
  units_per_row: 'u32',
  // Whether the element behind the end of a row, and of a matrix, is the first of the next.
  rows_touch: 'u32',
  batches_touch: 'u32',
  batches: 'u32',
};

const setEntry = (output: 'f32' | 'f16'): string => /* wgsl */ `
  let at = row_start + place;
  var old = 0.0;
  if (u.reads_c != 0u) { old = f32(c[at]); }
  let value = entry_value(line * u.n + place, old);
  c[at] = ${output === 'f16' ? 'to_f16(value)' : 'value'};`;

const setWord = /* wgsl */ `
  let word = row_start / 2u + place;
  // Columns of the low and the high half; the low one may be -1, the high one n.
  let low = i32(word * 2u) - i32(row_start);
  let high = low + 1;
  let n = i32(u.n);
  if (low >= n) { return; }
  let follows = (row > 0u && u.rows_touch != 0u) || (row == 0u && batch > 0u && u.batches_touch != 0u);
  if (low < 0 && follows) { return; }
  let is_last_row = row + 1u == u.m;
  let has_next = (!is_last_row && u.rows_touch != 0u)
    || (is_last_row && batch + 1u < u.batches && u.batches_touch != 0u);

  let bits = c[word];
  let old = select(vec2f(), unpack2x16float(bits), u.reads_c != 0u);
  var result = bits;
  // In the packed batch the entry behind the last one of a row is the first of the next.
  let index = i32(line * u.n) + low;
  if (low >= 0) { result = (result & 0xffff0000u) | half_bits(entry_value(u32(index), old.x)); }
  if (high < n || has_next) {
    result = (result & 0x0000ffffu) | (half_bits(entry_value(u32(index + 1), old.y)) << 16u);
  }
  c[word] = result;`;

import { ofType } from '@concord/variants';
import { defineKernel, type Kernel, mainOf, type StorageBinding, type UniformType, variants } from '../kernel.ts';
import type { Recorder, Span } from '../recorder.ts';
import { halfBits, packedBits } from '../wgsl/half.wgsl.ts';
import { bindMatrix, type KernelTable, type Matrix } from './product.ts';
import {
  DTYPES,
  featuresFor,
  type OutputFormat,
  outputFormat,
  outputType,
  storedValue,
  TO_F16,
} from './storage-formats.ts';

/** Invocations of a workgroup. */
const GROUP = 256;

/** The definition of kernels for {@link entriesTable}. */
interface EntriesSource {
  readonly name: string;
  readonly storage?: Readonly<Record<string, StorageBinding>>;
  readonly uniforms?: Readonly<Record<string, UniformType>>;
  /** Declares `entry_value(index: u32, old: f32) -> f32`: the new value of entry `index` of the packed batch. */
  readonly value: string;
}

/** A batch of C whose entries are set. */
interface Entries {
  readonly m: number;
  readonly n: number;
  readonly batchCount: number;
  readonly c: Matrix;
  /** The factor of old entries. Where it is 0 they are not read, and taken for 0. */
  readonly beta: number;
  /** The inputs of the kernels besides C, and their own uniforms. */
  readonly storage: Readonly<Record<string, Span>>;
  readonly uniforms: Readonly<Record<string, number>>;
}

/** A table of kernels that set each entry of a batch of C, one for each format of C. */
interface EntriesTable extends KernelTable {
  /** Launches the kernel for entries whose C fits into a binding. */
  launch(entries: Entries, recorder: Recorder): void;
}

/** A table of kernels that compute `C = entry_value(index, C)` for each entry, and leave alone what lies between entries. */
function entriesTable(source: EntriesSource): EntriesTable {
  const kernel = variants(({ output }: { readonly output: OutputFormat }) => entriesKernel(source, output));
  return {
    ids: [],
    kernelsFor: (traits) => DTYPES.map((dtype) => kernel({ output: outputFormat(dtype, traits) })),
    launch: (entries, recorder) => {
      const { traits } = recorder;
      const output = outputFormat(entries.c.dtype, traits);
      const { span, start } = bindMatrix(entries.c, traits.storageAlignment);
      const uniforms = entriesUniforms(output, entries, start);
      const groups = Math.ceil((uniforms['units'] as number) / GROUP);
      recorder.launch({ kernel: kernel({ output }), storage: { ...entries.storage, c: span }, uniforms, groups });
    },
  };
}

/**
 * A kernel of entries. For `f32` and `f16` each invocation has one. Without `f16`, two elements share a word of 32
 * bits, which must have one owner: each invocation has one word of one row. A word with the end of a row and the
 * beginning of the next, of this matrix or of the next one, belongs to the row that ends there; bits of a word that are
 * no entry keep their value.
 */
function entriesKernel({ name, storage, uniforms, value }: EntriesSource, output: OutputFormat): Kernel {
  return defineKernel({
    name: `${name} ${output}`,
    storage: { ...storage, c: { access: 'read_write', type: outputType(output, false) } },
    uniforms: { ...ENTRIES_UNIFORMS, ...uniforms },
    features: featuresFor(output, false),
    code: /* wgsl */ `
${output === 'f16' ? TO_F16 : ''}
${output === 'half-words' ? halfBits : ''}
${value}

${mainOf(GROUP)}
  let group = group_index(id, grid);
  if (group >= u.group_count) { return; }
  let unit = group * ${GROUP}u + lane;
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

function entriesUniforms(
  output: OutputFormat,
  { m, n, batchCount, c, beta, uniforms: own }: Entries,
  start: number,
): Readonly<Record<string, number>> {
  const { ld, stride } = c;
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
    reads_c: Number(beta !== 0),
    units,
    units_per_row: unitsPerRow,
    rows_touch: Number(m > 1 && ld === n),
    batches_touch: Number(batchCount > 1 && stride === (m - 1) * ld + n),
    batches: batchCount,
  };
  return Object.assign(uniforms, own);
}

const ENTRIES_UNIFORMS: Readonly<Record<string, UniformType>> = {
  ...ofType('u32', 'm n c_ld c_stride c_start reads_c units units_per_row'),
  // Whether the element after the end of a row, and of a matrix, is the first of the next.
  ...ofType('u32', 'rows_touch batches_touch batches'),
};

const setEntry = (output: 'f32' | 'f16'): string => /* wgsl */ `
  let at = row_start + place;
  var old = 0.0;
  if (u.reads_c != 0u) { old = f32(c[at]); }
  let value = entry_value(line * u.n + place, old);
  c[at] = ${storedValue(output, false, 'value')};`;

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
  // In the packed batch the entry after the last one of a row is the first of the next.
  let index = i32(line * u.n) + low;
  if (low >= 0) { result = (result & 0xffff0000u) | ${storedValue('half-words', false, 'entry_value(u32(index), old.x)')}; }
  if (high < n || has_next) {
    result = (result & 0x0000ffffu) | (${storedValue('half-words', false, 'entry_value(u32(index + 1), old.y)')} << 16u);
  }
  c[word] = result;`;

/**
 * `C = alpha * (sum over splits) + beta * C`: the second half of a product whose first half left float32 sums, packed as
 * `[split, batch, m, n]`. For products that are split along k, and for binary16 without `f16`, where two entries
 * share a word. Splits are added in order, so that equal calls give equal bits.
 */
export const finish: EntriesTable = entriesTable({
  name: 'gemm/finish',
  storage: { sums: { access: 'read', type: 'array<f32>' } },
  uniforms: { splits: 'u32', split_stride: 'u32', alpha: 'f32', beta: 'f32' },
  value: /* wgsl */ `
fn entry_value(index: u32, old: f32) -> f32 {
  var sum = sums[index];
  let end = index + u.splits * u.split_stride;
  for (var at = index + u.split_stride; at < end; at += u.split_stride) { sum += sums[at]; }
  let product = u.alpha * sum;
  if (u.reads_c == 0u) { return product; }
  return product + u.beta * old;
}`,
});

/** Numbers that {@link f16RoundTrip} takes. */
export const ROUND_TRIP_NUMBERS = 32;

/**
 * Rounds float32 to `f16` as the products do, by its bits and once more by the device's packing, and widens both again: what has to
 * work before either is relied on.
 */
export const f16RoundTrip: Kernel = defineKernel({
  name: 'gemm/f16-round-trip',
  storage: {
    x: { access: 'read', type: 'array<f32>' },
    halves: { access: 'read_write', type: outputType('f16', false) },
    widened: { access: 'read_write', type: 'array<f32>' },
  },
  uniforms: {},
  features: featuresFor('f16', false),
  code: /* wgsl */ `
${halfBits}
${packedBits('packed_bits')}

@compute @workgroup_size(${2 * ROUND_TRIP_NUMBERS})
fn main(@builtin(local_invocation_index) lane: u32) {
  let value = x[lane % ${ROUND_TRIP_NUMBERS}u];
  let bits = select(half_bits(value, u.zero), packed_bits(value, u.zero), lane >= ${ROUND_TRIP_NUMBERS}u);
  halves[lane] = f16(unpack2x16float(bits).x);
  widened[lane] = f32(halves[lane]);
}`,
});

/** {@link f16RoundTrip}, where there is `f16`. */
export const f16RoundTripTable: KernelTable = {
  ids: [],
  kernelsFor: ({ hasF16 }) => (hasF16 ? [f16RoundTrip] : []),
};

import { shapeOf } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits } from '../recorder.ts';
import { decodeRow, decodeRowBytes } from './decode-row.wgsl.ts';
import { decode, decodeBytes, DECODE_LANES, type DecodeParams } from './decode.wgsl.ts';
import { fitOf } from './flash-parts.ts';
import { type AttentionSizes, type AttentionTable, type AttentionVariant, formsOf, rowsByFours } from './table.ts';

type Rows = 1 | 4 | 8;
type Columns = 64 | 128 | 256;

/** Rows of O that share their keys at a time, and columns that there is room for. */
export const DECODE_ROWS: readonly Rows[] = [1, 4, 8];
export const DECODE_COLUMNS: readonly Columns[] = [64, 128, 256];

const ROWS_OF: ReadonlyMap<string, Rows> = new Map(DECODE_ROWS.map((rows) => [`attention/decode-${rows}`, rows]));

/** Queries that it is for: it reads all keys for each few. */
export const DECODE_QUERIES = 4;
/** Workgroups that keep a GPU reading: of some rows, and of one, which read more at once. */
const ENOUGH_READERS = 192;
const ENOUGH_ROW_READERS = 128;
/** Keys of a split are a multiple of this, and at least as many. */
const SPLIT_KEYS = 64;
/** This many records are merged in one go: more splits than these have twice as many keys at least. */
const FEW_SPLITS = 8;

/** Attention of a few queries, for GPUs: what counts is how fast keys and values are read. */
export const decodeTable: AttentionTable = {
  ids: [...ROWS_OF.keys()],
  kernelsFor: (traits) =>
    DECODE_ROWS.flatMap((rows) => DECODE_COLUMNS.map((columns) => ({ rows, columns })))
      .filter(({ rows, columns }) => hasRoom(rows, columns, traits))
      .flatMap(({ rows, columns }) =>
        (['full', 'wide', 'any'] as const).flatMap((fit) =>
          formsOf((form) => rowsByFours(form, fit !== 'any')).flatMap(({ form, partial }) =>
            form === 'plain' ? [] : kernelOf(rows, columns, { form, fit, partial }),
          ),
        ),
      ),
  candidates: (sizes, traits) => {
    const variants = sizes.queries > DECODE_QUERIES ? [] : bestFirst(sizes, traits);
    const [preferred] = variants;
    return preferred && { variants, preferred, rank: 3 };
  },
  isForAny: true,
  splitKeys: () => SPLIT_KEYS,
  writesRows: rowsByFours,
  launch: (work, variant, recorder) => {
    const { sizes, splits, partial } = work;
    const { heads, queries, headDim, form, group } = sizes;
    const rows = shapeOf(ROWS_OF, variant);
    const columns = columnsFor(headDim) as Columns;
    const any = form === 'plain' ? 'f32' : form;
    recorder.launch({
      ...work.launch,
      kernel: kernelOf(rows, columns, { form: any, fit: fitOf(work, columns), partial }),
      groups: (heads / group) * Math.ceil((group * queries) / rows) * splits,
      ...(rows === 1 ? { grid: [splits, heads * queries, 1] } : {}),
      variant: variant.id,
    });
  },
};

function kernelOf(rows: Rows, columns: Columns, params: Omit<DecodeParams, 'tile'>): Kernel {
  return rows === 1 ? decodeRow({ columns, ...params }) : decode({ tile: { rows, columns }, ...params });
}

const columnsFor = (headDim: number): Columns | undefined => DECODE_COLUMNS.find((max) => max >= headDim);

/** Returns whether a device has invocations and memory. */
function hasRoom(
  rows: Rows,
  columns: Columns,
  { isSoftware, maxInvocations, maxWorkgroupBytes }: DeviceTraits,
): boolean {
  const bytes = rows === 1 ? decodeRowBytes(columns) : decodeBytes({ rows, columns });
  return !isSoftware && DECODE_LANES <= maxInvocations && bytes <= maxWorkgroupBytes;
}

/** Those that waste no row first, and then those with more rows. */
function bestFirst(sizes: AttentionSizes, traits: DeviceTraits): readonly AttentionVariant[] {
  const { heads, queries, keys, headDim, group } = sizes;
  const columns = columnsFor(headDim);
  if (columns === undefined) return [];
  const shared = group * queries;
  const possible = DECODE_ROWS.filter(
    (rows) => hasRoom(rows, columns, traits) && (rows > 1 || heads * queries <= traits.maxWorkgroupsPerDimension),
  );
  const enough = possible.filter((rows) => rows >= shared);
  return [...enough, ...possible.filter((rows) => rows < shared).reverse()].map((rows) => {
    const groups = (heads / group) * Math.ceil(shared / rows);
    const worthwhile = Math.max(Math.min(FEW_SPLITS, Math.ceil(keys / SPLIT_KEYS)), Math.ceil(keys / (2 * SPLIT_KEYS)));
    const readers = rows === 1 ? ENOUGH_ROW_READERS : ENOUGH_READERS;
    return { id: `attention/decode-${rows}`, splits: Math.min(Math.ceil(readers / groups), worthwhile) };
  });
}

import { shapeOf } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits } from '../recorder.ts';
import { decodeRow, decodeRowBytes } from './decode-row.wgsl.ts';
import { decode, decodeBytes, DECODE_LANES, type DecodeParams } from './decode.wgsl.ts';
import { fitOf } from './flash-parts.ts';
import {
  type AttentionSizes,
  type AttentionTable,
  type AttentionVariant,
  columnsOf,
  formsOf,
  rowsByFours,
} from './table.ts';

type Rows = 1 | 4;
type Columns = DecodeParams['columns'];

/** Rows of O that share their keys at a time, and columns that there is room for. */
const DECODE_ROWS: readonly Rows[] = [1, 4];
const DECODE_COLUMNS: readonly Columns[] = [64, 128, 256];

const ROWS_OF: ReadonlyMap<string, Rows> = new Map(DECODE_ROWS.map((rows) => [`attention/decode-${rows}`, rows]));

/** Queries that it is for: it reads all keys for each few. */
export const DECODE_QUERIES = 4;
/** Workgroups that keep a GPU reading. */
const ENOUGH_READERS = 128;
/**
 * Rows, and keys, up to which each row reads its keys by itself, from the cache that those before it filled. Four rows at a time are
 * faster alone, and slower in a token: see NOTES.md.
 */
const FEW_ROWS = 64;
const FEW_KEYS = 2048;
/** Keys of a split are a multiple of this, and at least as many. */
const LEAST_SPLIT = 64;
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
            form === 'plain' ? [] : kernelOf(rows, { columns, form, fit, partial }),
          ),
        ),
      ),
  candidates: (sizes, traits) => {
    const variants = sizes.queries > DECODE_QUERIES ? [] : bestFirst(sizes, traits);
    const [preferred] = variants;
    return preferred && { variants, preferred, rank: 3 };
  },
  isForAny: true,
  splitKeys: () => LEAST_SPLIT,
  writesRows: rowsByFours,
  launch: (work, variant, recorder) => {
    const { sizes, splits, partial } = work;
    const { heads, queries, form, group } = sizes;
    const rows = shapeOf(ROWS_OF, variant);
    const columns = columnsFor(sizes) as Columns;
    const any = form === 'plain' ? 'f32' : form;
    recorder.launch({
      ...work.launch,
      kernel: kernelOf(rows, { columns, form: any, fit: fitOf(work, columns), partial }),
      groups: (heads / group) * Math.ceil((group * queries) / rows) * splits,
      grid: [splits, ...gridOf(rows, sizes)],
      variant: variant.id,
    });
  },
};

const kernelOf = (rows: Rows, params: DecodeParams): Kernel => (rows === 1 ? decodeRow : decode)(params);

/** Blocks of rows, and heads of K that they are of. */
const gridOf = (rows: Rows, { heads, queries, group }: AttentionSizes): readonly [number, number] =>
  rows === 1 ? [heads * queries, 1] : [Math.ceil((group * queries) / rows), heads / group];

const columnsFor = (sizes: AttentionSizes): Columns | undefined =>
  DECODE_COLUMNS.find((max) => max >= columnsOf(sizes));

/** Returns whether a device has invocations and memory. */
function hasRoom(
  rows: Rows,
  columns: Columns,
  { isSoftware, maxInvocations, maxWorkgroupBytes }: DeviceTraits,
): boolean {
  const bytes = (rows === 1 ? decodeRowBytes : decodeBytes)(columns);
  return !isSoftware && DECODE_LANES <= maxInvocations && bytes <= maxWorkgroupBytes;
}

/** Rows by themselves where they are few; else those that waste no row first. */
function bestFirst(sizes: AttentionSizes, traits: DeviceTraits): readonly AttentionVariant[] {
  const { heads, queries, keys, group } = sizes;
  const columns = columnsFor(sizes);
  if (columns === undefined) return [];
  const shared = group * queries;
  const possible = DECODE_ROWS.filter(
    (rows) => hasRoom(rows, columns, traits) && Math.max(...gridOf(rows, sizes)) <= traits.maxWorkgroupsPerDimension,
  );
  const alone = heads * queries <= FEW_ROWS && keys <= FEW_KEYS ? possible.filter((rows) => rows === 1) : [];
  const enough = possible.filter((rows) => rows >= shared);
  const fewer = possible.filter((rows) => rows < shared).reverse();
  return [...new Set([...alone, ...enough, ...fewer])].map((rows) => {
    const groups = (heads / group) * Math.ceil(shared / rows);
    const worthwhile = Math.max(
      Math.min(FEW_SPLITS, Math.ceil(keys / LEAST_SPLIT)),
      Math.ceil(keys / (2 * LEAST_SPLIT)),
    );
    return { id: `attention/decode-${rows}`, splits: Math.min(Math.ceil(ENOUGH_READERS / groups), worthwhile) };
  });
}

import { checkSteps } from '@concord/variants';
import { type Geometry, keyHull, keysOf, maskHull, mostKeys, queryHull, type QueryWindow } from './geometry.ts';

/** The maximum of elements in a launch. */
export interface Room {
  /** Of Q, K, V or O in a binding. */
  readonly operand: number;
  /** Float32 numbers in a binding, wherever they begin: of a mask, or of records. */
  readonly numbers: number;
  /** Keys that the loops of a device can take. */
  readonly keys: number;
}

/** The cut of a call. */
export interface Cut {
  /** In order; together they are the call. */
  readonly windows: readonly QueryWindow[];
  /** The maximum number of keys of a launch. */
  readonly keysPerPart: number;
}

/**
 * Windows of which each piece of an operand fits a binding: as many batches as fit, or of one batch as many groups of heads,
 * or of one head as many queries. Where not even the keys of one head fit, they are taken in parts.
 *
 * @param recordRows - float32 numbers that a row takes in scratch memory; 0 where it may do without
 */
export function cutCall(geometry: Geometry, room: Room, recordRows: (inParts: boolean) => number): Cut {
  const { batch, heads, group, seqQ, headDim, mask } = geometry;
  const all: QueryWindow = { batch: 0, batches: batch, head: 0, heads, query: 0, queries: seqQ };
  const { keys } = keysOf(geometry, all);
  const fitting = (stride: number, width: number, elements: number): number =>
    stride === 0 ? Infinity : Math.max(1, Math.floor((elements - width) / stride) + 1);
  const keysPerPart = Math.min(
    room.keys,
    fitting(geometry.k[2], headDim, room.operand),
    fitting(geometry.v[2], headDim, room.operand),
    mask === undefined ? Infinity : fitting(mask[3], 1, room.numbers),
  );
  const record = recordRows(keysPerPart < keys);
  const fits = (part: Partial<QueryWindow>): boolean => {
    const queries = { ...all, ...part };
    const window = { ...queries, key: 0, keys: Math.min(keysPerPart, mostKeys(geometry, queries)) };
    const rows = window.batches * window.heads * window.queries;
    return (
      queryHull(geometry.q, headDim, window).elements <= room.operand &&
      queryHull(geometry.o, headDim, window).elements <= room.operand &&
      keyHull(geometry.k, geometry, window).elements <= room.operand &&
      keyHull(geometry.v, geometry, window).elements <= room.operand &&
      (mask === undefined || maskHull(mask, window).elements <= room.numbers) &&
      rows * record <= room.numbers
    );
  };
  const pieces = (total: number, size: number): number => Math.ceil(total / size);
  const batches = max(batch, (count) => fits({ batches: count }));
  if (batches > 0) {
    checkSteps(pieces(batch, batches));
    return { windows: cuts(all, 'batch', 'batches', batches), keysPerPart };
  }
  const groups = max(heads / group, (count) => fits({ batches: 1, heads: count * group }));
  checkSteps(batch * (groups > 0 ? pieces(heads, groups * group) : heads));
  const ofBatch = cuts(all, 'batch', 'batches', 1);
  if (groups > 0) {
    return { windows: ofBatch.flatMap((each) => cuts(each, 'head', 'heads', groups * group)), keysPerPart };
  }
  const queries = Math.max(
    1,
    max(seqQ, (count) => fits({ batches: 1, heads: 1, queries: count })),
  );
  checkSteps(batch * heads * pieces(seqQ, queries));
  const ofHead = ofBatch.flatMap((each) => cuts(each, 'head', 'heads', 1));
  return { windows: ofHead.flatMap((each) => cuts(each, 'query', 'queries', queries)), keysPerPart };
}

/** The largest number up to `limit` for which `fits` holds, as it does for all below that; 0 if for none. */
function max(limit: number, fits: (count: number) => boolean): number {
  if (fits(limit)) return limit;
  let [low, high] = [0, limit];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function cuts(
  window: QueryWindow,
  first: 'batch' | 'head' | 'query',
  count: 'batches' | 'heads' | 'queries',
  size: number,
): QueryWindow[] {
  return Array.from({ length: Math.ceil(window[count] / size) }, (_, index) => ({
    ...window,
    [first]: window[first] + index * size,
    [count]: Math.min(size, window[count] - index * size),
  }));
}

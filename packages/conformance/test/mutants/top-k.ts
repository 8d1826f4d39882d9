import type { BackendKernels, ResolvedTopK } from '@concord/backend-core/implement';
import { mutantsOf, type Wrap, bytesBehind, floats, type Mutant } from './mutant.ts';

type Call = ResolvedTopK<ArrayBuffer>;

/** Replaces the kernel, after the checks. `run` is the right one. */
function inTopK(bug: (call: Call, run: (call: Call) => void) => void): Wrap {
  return (backend) => {
    const { topK } = (backend as unknown as { kernels: Required<BackendKernels<ArrayBuffer>> }).kernels;
    const run = topK.run.bind(topK);
    topK.run = (call) => bug(call, run);
    return backend;
  };
}

/** Replaceable parts of a selection. */
interface Parts {
  /** Elements of a row that are looked at. */
  readonly columns?: (columns: number) => number;
  /** The value of an element where elements are compared. */
  readonly key?: (x: number, bits: number) => number;
  /** Below 0 where x is to come before y. */
  readonly order?: (x: number, y: number) => number;
  /** Which of two equals comes first: below 0 for the one of the lower index. */
  readonly ties?: (x: number, y: number) => number;
  /** Places in their order, of all of the row, before the first k are taken. */
  readonly sorted?: (places: number[], call: Call) => number[];
  readonly index?: (place: number, row: number, call: Call) => number;
  readonly value?: (bits: number) => number;
}

/** Greatest first, NaN before all. */
function greatestFirst(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(y)) - Number(Number.isNaN(x));
  return Number(y > x) - Number(y < x);
}

function naiveTopK(call: Call, parts: Parts): void {
  const { rows, columns, k, largest } = call;
  const { key = (x) => x, ties = (x, y) => x - y, sorted = (places) => places } = parts;
  const { order = (x, y) => (largest ? greatestFirst(x, y) : greatestFirst(y, x)) } = parts;
  const { index = (place) => place, value = (word) => word } = parts;
  const input = floats(call.input);
  const [bits, values, indices] = [words(call.input), words(call.values), words(call.indices)];
  for (let row = 0; row < rows; row++) {
    const first = row * columns;
    const length = parts.columns?.(columns) ?? columns;
    const places = Array.from({ length }, (_, place) => place);
    const keys = places.map((place) => key(input[first + place] as number, bits[first + place] as number));
    places.sort((x, y) => order(keys[x] as number, keys[y] as number) || ties(x, y));
    for (const [rank, place] of sorted(places, call).slice(0, k).entries()) {
      values[row * k + rank] = value(bits[first + place] as number);
      indices[row * k + rank] = index(place, row, call);
    }
  }
}

function words({ buffer, byteOffset, byteLength }: Call['input']): Uint32Array {
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}

const selects = (parts: Parts): Wrap => inTopK((call) => naiveTopK(call, parts));
const followed = (tamper: (call: Call) => void): Wrap =>
  inTopK((call, run) => {
    run(call);
    tamper(call);
  });

/** The best of chunks are found apart, and some of them lost. */
const fromChunks = (
  size: number,
  keeps: (candidate: { rank: number; place: number; chunk: number; chunks: number; k: number }) => boolean,
): Wrap =>
  selects({
    sorted: (places, { k, columns }) => {
      const chunks = Math.ceil(columns / size);
      const ranks = new Uint32Array(chunks);
      return places.filter((place) => {
        const chunk = Math.floor(place / size);
        const rank = (ranks[chunk] as number)++;
        return chunks === 1 || keeps({ rank, place, chunk, chunks, k });
      });
    },
  });

const isSubnormal = (x: number): boolean => Math.abs(x) < 2 ** -126;
const isBelowZero = (bits: number): boolean => bits >= 0x8000_0000;

let calls = 0;

const BUGS: Readonly<Record<string, Wrap>> = {
  'ties by the higher index': selects({ ties: (x, y) => y - x }),
  'ties by the higher index beyond the first chunk': selects({
    ties: (x, y) => (x >= 4096 && y >= 4096 ? y - x : x - y),
  }),
  'NaN below everything': selects({ key: (x) => (Number.isNaN(x) ? -Infinity : x) }),
  'NaN below Infinity': selects({ key: (x) => (Number.isNaN(x) ? 2 ** 128 : x) }),
  'NaN equal to Infinity': selects({ key: (x) => (Number.isNaN(x) ? Infinity : x) }),
  'NaN with a sign below everything': selects({
    key: (x, bits) => (Number.isNaN(x) && isBelowZero(bits) ? -Infinity : x),
  }),
  'NaN first among the least': selects({
    key: (x) => (Number.isNaN(x) ? -Infinity : x),
    order: (x, y) => greatestFirst(y, x),
  }),
  'NaN ordered by their bits': selects({
    key: (x, bits) => {
      if (Number.isNaN(x)) return 2 ** 300 * (1 + (bits & 0x7fff_ffff));
      return x === Infinity ? 2 ** 200 : x;
    },
  }),
  '-0 below +0': selects({ key: (x) => (Object.is(x, -0) ? -(2 ** -200) : x) }),
  'subnormals are zeros': selects({ key: (x) => (isSubnormal(x) ? 0 : x) }),
  'absolute values compared': selects({ key: Math.abs }),
  'largest ignored': inTopK((call, right) => right({ ...call, largest: true })),
  unsorted: selects({ sorted: (places, { k }) => places.slice(0, k).sort((x, y) => x - y) }),
  'worst first': selects({ sorted: (places, { k }) => places.slice(0, k).reverse() }),
  'the last column lost': selects({ columns: (columns) => Math.max(1, columns - 1) }),
  'the last column lost after a tile': selects({
    columns: (columns) => (columns > 256 && columns % 256 === 1 ? columns - 1 : columns),
  }),
  'columns from the 65,536th on lost': selects({ columns: (columns) => Math.min(columns, 65_536) }),
  'the first column lost': selects({ sorted: (places) => places.filter((place) => place !== 0) }),
  'indices counted through all rows': selects({ index: (place, row, { columns }) => row * columns + place }),
  'indices of the row before': followed(({ rows, k, indices }) => words(indices).copyWithin(k, 0, (rows - 1) * k)),
  'indices counted from 1': selects({ index: (place) => place + 1 }),
  'indices as floats': selects({ index: (place) => new Uint32Array(Float32Array.of(place).buffer)[0] as number }),
  'indices of 16 bits': selects({ index: (place) => place & 0xffff }),
  'indices within their chunk': selects({ index: (place) => place % 4096 }),
  'one less than k': selects({ sorted: (places, { k }) => places.slice(0, Math.max(1, k - 1)) }),
  'k cut off at 128': selects({ sorted: (places, { k }) => places.slice(0, Math.min(k, 128)) }),
  'one more than k': followed(({ values }) => bytesBehind(values).fill(7, 0, 4)),
  'candidates of the last chunk lost': fromChunks(2048, ({ chunk, chunks }) => chunk < chunks - 1),
  'candidates of a chunk cut off at 16': fromChunks(2048, ({ rank }) => rank < 16),
  'one candidate less than k of a chunk': fromChunks(4096, ({ rank, k }) => rank < Math.max(1, k - 1)),
  'the first of each chunk lost': fromChunks(1024, ({ place }) => place === 0 || place % 1024 !== 0),
  'the last of each chunk lost': fromChunks(8192, ({ place }) => place % 8192 !== 8191),
  'chunks of candidates not joined': selects({
    sorted: (places) => places.slice().sort((x, y) => Math.floor(x / 4096) - Math.floor(y / 4096)),
  }),
  'rows from the 65,536th on left out': inTopK((call, right) => right({ ...call, rows: Math.min(call.rows, 65_535) })),
  'NaN made quiet': selects({ value: (bits) => ((bits & 0x7fff_ffff) > 0x7f80_0000 ? bits | 0x0040_0000 : bits) }),
  'zeros without their sign': selects({ value: (bits) => (bits === 0x8000_0000 ? 0 : bits) }),
  'input used as scratch': followed(({ input }) => floats(input).fill(0, 0, 1)),
  'other indices of equals from call to call': inTopK((call) =>
    naiveTopK(call, calls++ % 2 === 1 ? { ties: (x, y) => y - x } : {}),
  ),
};

/** Bugs of topK. */
export const topKMutants: readonly Mutant[] = mutantsOf('topK:', ['topK'], BUGS);

import { ofType, SORT_ENTRIES, type TopKSource } from '@concord/variants';
import { defineKernel, type Kernel, type KernelSource, mainOf, variants } from '../kernel.ts';
import { repeat } from '../wgsl/snippets.ts';

/**
 * Bindings and uniforms of a pass over rows of `length` elements. A row has `parts` of `chunk` elements, the last one
 * perhaps fewer; `items` is rows times parts. Of each part the `k` best are stored (or all, if it has no more), the best
 * first, those of a part after those of the part before, those of a row `results` after those of the row before.
 *
 * `flip` inverts all bits of keys where the smallest are the best. `base` is the column of the first element, where a row comes
 * in several windows. The others say where the operands begin in their bindings.
 *
 * Of equals the first in a list of candidates is the one of the lower place, as parts are in order.
 */
function passInterface(source: TopKSource): Pick<KernelSource, 'storage' | 'uniforms'> {
  const read = { access: 'read', type: 'array<u32>' } as const;
  const written = { access: 'read_write', type: 'array<u32>' } as const;
  return {
    storage: {
      input: read,
      ...(source === 'candidates' ? { places: read } : {}),
      values: written,
      indices: written,
    },
    uniforms: {
      ...ofType('u32', 'items parts length chunk k results flip base input_at places_at values_at'),
      ...ofType('u32', 'indices_at'),
    },
  };
}

/**
 * The functions that passes are made of. An entry is a key, of which the greater is better, and the number of the element in
 * its part, of which the lower is better. Keys are made of bits, in the order of the numbers: the zeros are equal, all NaN
 * are equal and above Infinity. No element has key 0: an entry of zeros is none.
 */
function passWgsl(source: TopKSource): string {
  const place = source === 'elements' ? 'u.base + part.start + at' : 'places[u.places_at + part.first + at]';
  return /* wgsl */ `
struct Part {
  first: u32,
  start: u32,
  count: u32,
  result: u32,
}

fn part_of(item: u32) -> Part {
  let row = item / u.parts;
  let number = item % u.parts;
  let start = number * u.chunk;
  return Part(row * u.length + start, start, min(u.chunk, u.length - start), row * u.results + number * u.k);
}

fn key_at(at: u32) -> u32 {
  let bits = input[u.input_at + at];
  let magnitude = bits & 0x7fffffffu;
  let ordered = bits ^ (bitcast<u32>(bitcast<i32>(bits) >> 31u) | 0x80000000u);
  let number = select(ordered, 0x80000000u, magnitude == 0u);
  return select(number, 0xfffffffeu, magnitude > 0x7f800000u) ^ u.flip;
}

fn is_ahead(a: vec2u, b: vec2u) -> bool {
  return (a.x > b.x) | ((a.x == b.x) & (a.y < b.y));
}

fn store(part: Part, rank: u32, at: u32) {
  values[u.values_at + part.result + rank] = input[u.input_at + part.first + at];
  indices[u.indices_at + part.result + rank] = ${place};
}`;
}

/** A kernel of {@link lane}. */
export interface LaneForm {
  /** Entries that an invocation has room for. */
  readonly room: number;
  /** Invocations of one workgroup. */
  readonly size: number;
  /** Whose memory they are in. Lavapipe compiles a large array of an invocation for many seconds, SwiftShader one of a workgroup for some. */
  readonly memory: 'private' | 'workgroup';
}

/** Every {@link LaneForm}, small ones first. */
export const LANE_FORMS: readonly LaneForm[] = [
  { room: 16, size: 64, memory: 'private' },
  { room: 256, size: 8, memory: 'workgroup' },
];

/**
 * Selects the best of a part by one invocation, which keeps them in a heap with the worst on top: most elements cost
 * a comparison with it. For devices on which barriers are expensive.
 */
export const lane: (params: { source: TopKSource; form: LaneForm }) => Kernel = variants(
  ({ source, form: { room, size: lanes, memory } }) =>
    defineKernel({
      name: `top-k/lane ${source} ${room}`,
      ...passInterface(source),
      code: /* wgsl */ `
${passWgsl(source)}
// How far the entries of one heap are apart.
const STRIDE = ${memory === 'private' ? 1 : lanes}u;
var<${memory}> heaps: array<vec2u, ${memory === 'private' ? room : room * lanes}>;

// Puts an entry into the place of the worst of the first size, and the worst of those on top.
fn replace_worst(heap: u32, entry: vec2u, size: u32) {
  var at = 0u;
  for (var child = 1u; child < size; child = 2u * at + 1u) {
    let other = min(child + 1u, size - 1u);
    let worse = select(child, other, is_ahead(heaps[child * STRIDE + heap], heaps[other * STRIDE + heap]));
    if (is_ahead(heaps[worse * STRIDE + heap], entry)) { break; }
    heaps[at * STRIDE + heap] = heaps[worse * STRIDE + heap];
    at = worse;
  }
  heaps[at * STRIDE + heap] = entry;
}

${mainOf(lanes)}
  let item = group_index(id, grid) * ${lanes}u + lane;
  if (item >= u.items) { return; }
  let part = part_of(item);
  let size = min(u.k, part.count);
  let heap = ${memory === 'private' ? '0u' : 'lane'};
  var worst = 0u;
  for (var at = 0u; at < part.count; at++) {
    let key = key_at(part.first + at);
    if (key > worst) {
      replace_worst(heap, vec2u(key, at), size);
      worst = heaps[heap].x;
    }
  }
  for (var left = size; left > 0u; left--) {
    store(part, left - 1u, heaps[heap].y);
    replace_worst(heap, heaps[(left - 1u) * STRIDE + heap], left - 1u);
  }
}`,
    }),
);

/** Loop iterations of an invocation of {@link lane} for a part of one element more, at most. */
export function lanePerElement(k: number): number {
  return Math.floor(Math.log2(k)) + 3;
}

/** Invocations of one workgroup. */
const SORT_SIZE = 256;

/**
 * WGSL: `sort_entries(lane)`, by a workgroup: of `size` entries in workgroup memory each `room` neighbours are sorted, the
 * best first (K. E. Batcher, "Sorting networks and their applications", AFIPS 1968: the bitonic network, in the form in
 * which the first step of each size compares mirror images, so that all runs are in one direction). Barriers come before
 * each step and at the end.
 */
function sortWgsl(size: number, room: number): string {
  return /* wgsl */ `
var<workgroup> entries: array<vec2u, ${size}>;

fn sort_entries(lane: u32) {
  for (var run = 2u; run <= ${room}u; run *= 2u) {
    for (var stride = run / 2u; stride > 0u; stride /= 2u) {
      workgroupBarrier();
      for (var pair = lane; pair < ${size / 2}u; pair += ${SORT_SIZE}u) {
        let a = 2u * pair - (pair & (stride - 1u));
        let b = select(a + stride, a ^ (run - 1u), 2u * stride == run);
        let x = entries[a];
        let y = entries[b];
        if (is_ahead(y, x)) {
          entries[a] = y;
          entries[b] = x;
        }
      }
    }
  }
  workgroupBarrier();
}`;
}

/** Selects the best of short parts: a workgroup sorts as many of them as its memory has room for. */
export const sort: (params: { source: TopKSource; room: number }) => Kernel = variants(({ source, room }) =>
  defineKernel({
    name: `top-k/sort ${source} ${room}`,
    ...passInterface(source),
    code: /* wgsl */ `
${passWgsl(source)}
${sortWgsl(SORT_ENTRIES, room)}

${mainOf(SORT_SIZE)}
  let group = group_index(id, grid);
  if (group >= u.group_count) { return; }
  let first_item = group * ${SORT_ENTRIES / room}u;
  for (var slot = lane; slot < ${SORT_ENTRIES}u; slot += ${SORT_SIZE}u) {
    let item = first_item + slot / ${room}u;
    let at = slot % ${room}u;
    var entry = vec2u(0u);
    if (item < u.items) {
      let part = part_of(item);
      if (at < part.count) { entry = vec2u(key_at(part.first + at), at); }
    }
    entries[slot] = entry;
  }
  sort_entries(lane);
  for (var slot = lane; slot < ${SORT_ENTRIES}u; slot += ${SORT_SIZE}u) {
    let item = first_item + slot / ${room}u;
    let rank = slot % ${room}u;
    if (item < u.items && rank < u.k) {
      let part = part_of(item);
      if (rank < part.count) { store(part, rank, entries[slot].y); }
    }
  }
}`,
  }),
);

/** Elements that an invocation looks at in one step. */
const ELEMENTS_PER_STEP = 8;

/**
 * Selects the best of a part of any length by a workgroup that reads it once. The k best so far are at the start of an
 * array in workgroup memory; what is better than the worst of them is put after them, wherever there is room, and when there
 * is none the whole array is sorted. Of elements in random order few come that far.
 */
export const select: (params: { source: TopKSource; size: number }) => Kernel = variants(({ source, size }) =>
  defineKernel({
    name: `top-k/select ${source} ${size}`,
    ...passInterface(source),
    code: /* wgsl */ `
${passWgsl(source)}
${sortWgsl(size, size)}
var<workgroup> filled: atomic<u32>;
var<workgroup> wanted: u32;

${mainOf(SORT_SIZE)}
  let group = group_index(id, grid);
  if (group >= u.group_count) { return; }
  let part = part_of(group);
  let last = part.count - 1u;
  let room = ${size}u - u.k;
  var worst = vec2u(0u);
  // Workgroup memory starts as zeros: no entries.
  for (var start = 0u; start < part.count; start += ${SORT_SIZE * ELEMENTS_PER_STEP}u) {
${repeat(ELEMENTS_PER_STEP, (i) => `    let at${i} = start + lane + ${i * SORT_SIZE}u;`)}
${repeat(ELEMENTS_PER_STEP, (i) => `    let key${i} = select(0u, key_at(part.first + min(at${i}, last)), at${i} <= last);`)}
    var pending = 0u;
${repeat(ELEMENTS_PER_STEP, (i) => `    pending |= select(0u, ${1 << i}u, is_ahead(vec2u(key${i}, at${i}), worst));`)}
    loop {
      if (pending != 0u) {
        var slot = u.k + atomicAdd(&filled, countOneBits(pending));
${repeat(ELEMENTS_PER_STEP, (i) => `        if ((pending & ${1 << i}u) != 0u && slot < ${size}u) { entries[slot] = vec2u(key${i}, at${i}); slot++; pending ^= ${1 << i}u; }`)}
      }
      workgroupBarrier();
      if (lane == 0u) { wanted = atomicLoad(&filled); }
      if (workgroupUniformLoad(&wanted) <= room) { break; }
      sort_entries(lane);
      worst = entries[u.k - 1u];
      for (var slot = u.k + lane; slot < ${size}u; slot += ${SORT_SIZE}u) { entries[slot] = vec2u(0u); }
      if (lane == 0u) { atomicStore(&filled, 0u); }
      workgroupBarrier();
${repeat(ELEMENTS_PER_STEP, (i) => `      if (!is_ahead(vec2u(key${i}, at${i}), worst)) { pending &= ~${1 << i}u; }`)}
    }
  }
  sort_entries(lane);
  for (var rank = lane; rank < min(u.k, part.count); rank += ${SORT_SIZE}u) { store(part, rank, entries[rank].y); }
}`,
  }),
);

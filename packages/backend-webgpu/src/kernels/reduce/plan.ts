import type { ResolvedReduce } from '../built-in.ts';
import { FILL_WORDS, fillWords } from '../memory/fill-words.wgsl.ts';
import { bindable, bindingSlack, slice } from '../operands.ts';
import type { Recorder, Span, StorageBuffer } from '../recorder.ts';
import { pickVariant } from '@concord/variants';
import { launchPass, type Pass } from './launch.ts';
import { type Extents, variantsFor } from './variant.ts';

export { allKernels } from './launch.ts';
export { VARIANT_IDS } from './variant.ts';

type Call = ResolvedReduce<StorageBuffer>;

/** Rows that are gathered at a time where not even two fit a binding. */
const GATHERED_ROWS = 16;

/** Bits of what an empty axis gives. */
const EMPTY: Readonly<Record<Call['op'], number>> = {
  sum: 0,
  max: 0xff80_0000,
  min: 0x7f80_0000,
  mean: 0x7fc0_0000,
};

/**
 * `output[o, i] = op over a of input[o, a, i]`, in passes: each reduces the axis to the results of its parts, until one
 * is left. No result depends on more than 258 additions one after the other in a pass, and four passes are enough for
 * 2^32 elements, so that the bound of docs/numerics.md holds.
 */
export function planReduce(call: Call, recorder: Recorder): void {
  const { op, outer, inner, axisLength, input, output } = call;
  if (input === undefined || axisLength === 0) {
    fill(output, EMPTY[op], recorder);
    return;
  }
  const fold = op === 'mean' ? 'sum' : op;
  // The mean of n elements: scaled down by a power of two so that their sum stays finite, then divided by n over it.
  const whole = op === 'mean' ? 2 ** Math.ceil(Math.log2(axisLength)) : 1;
  const divisor = op === 'mean' ? axisLength / whole : 1;
  const hasQuads = [inner * 4, input.byteOffset, output.byteOffset].every((bytes) => bytes % 16 === 0);
  let src: Span = input;
  let length = axisLength;
  let scale = 1 / whole;
  do {
    const extents = { outer, length, inner };
    const chosen = pickVariant(recorder, variantsFor(extents, recorder.traits, hasQuads));
    const variant = { ...chosen, chunk: chunkInRoom(chosen.chunk, extents, roomOf(recorder)) };
    const parts = Math.ceil(length / variant.chunk);
    const isLast = parts === 1;
    // An input cannot be bound together with an output in its buffer.
    const isDirect = isLast && src.buffer !== output.buffer;
    const dst = isDirect ? output : recorder.scratch(outer * parts * inner * 4);
    passInWindows({ fold, variant, scale, divisor: isLast ? divisor : 1 }, extents, src, dst, recorder);
    if (isLast && !isDirect) recorder.copy(output, dst);
    src = dst;
    length = parts;
    scale = 1;
  } while (length > 1);
}

/** Elements of an operand, wherever it begins, that are sure to fit a binding. */
function roomOf({ traits }: Recorder): number {
  return Math.floor((traits.maxBindingBytes - bindingSlack(traits.storageAlignment)) / 4);
}

/** A part must fit a binding, if need be once its rows are gathered. */
function chunkInRoom(chunk: number, { length, inner }: Extents, room: number): number {
  const rows = Math.floor(room / inner);
  if (length <= rows) return chunk;
  return Math.min(chunk, rows >= 2 ? rows : GATHERED_ROWS);
}

/** One pass over a tensor of any size: in pieces that fit a binding. */
function passInWindows(pass: Pass, extents: Extents, src: Span, dst: Span, recorder: Recorder): void {
  const { outer, length, inner } = extents;
  const { chunk } = pass.variant;
  const parts = Math.ceil(length / chunk);
  const room = roomOf(recorder);
  const slabs = Math.floor(room / (length * inner));
  if (slabs >= 1) {
    for (let o = 0; o < outer; o += slabs) {
      const piece = { outer: Math.min(slabs, outer - o), length, inner };
      const from = elements(src, o * length * inner, piece.outer * length * inner);
      const to = elements(dst, o * parts * inner, piece.outer * parts * inner);
      launchPass(pass, piece, from, to, recorder);
    }
    return;
  }
  const slab = { outer: 1, length, inner };
  const stripWidth = Math.floor(room / chunk / 4) * 4;
  const gathered = chunk * inner <= room ? undefined : recorder.scratch(chunk * stripWidth * 4);
  for (let o = 0; o < outer; o++) {
    const from = elements(src, o * length * inner, length * inner);
    const to = elements(dst, o * parts * inner, parts * inner);
    if (gathered === undefined) passOverParts(pass, slab, from, to, recorder);
    else passOverStrips(pass, slab, { src: from, gathered, dst: to }, recorder);
  }
}

/** One pass over a slab, some parts at a time. */
function passOverParts(pass: Pass, { length, inner }: Extents, src: Span, dst: Span, recorder: Recorder): void {
  const { chunk } = pass.variant;
  const rows = Math.floor(roomOf(recorder) / (chunk * inner)) * chunk;
  for (let a = 0; a < length; a += rows) {
    const piece = { outer: 1, length: Math.min(rows, length - a), inner };
    const from = elements(src, a * inner, piece.length * inner);
    const to = elements(dst, (a / chunk) * inner, Math.ceil(piece.length / chunk) * inner);
    launchPass(pass, piece, from, to, recorder);
  }
}

/** One pass over a slab whose rows are too large to bind: strips of a part's rows are gathered in scratch memory. */
function passOverStrips(
  pass: Pass,
  { length, inner }: Extents,
  { src, gathered, dst }: { readonly src: Span; readonly gathered: Span; readonly dst: Span },
  recorder: Recorder,
): void {
  const { chunk } = pass.variant;
  const width = gathered.byteLength / 4 / chunk;
  for (let a = 0; a < length; a += chunk) {
    for (let i = 0; i < inner; i += width) {
      const piece = { outer: 1, length: Math.min(chunk, length - a), inner: Math.min(width, inner - i) };
      for (let row = 0; row < piece.length; row++) {
        const strip = elements(src, (a + row) * inner + i, piece.inner);
        recorder.copy(elements(gathered, row * piece.inner, piece.inner), strip);
      }
      const from = elements(gathered, 0, piece.length * piece.inner);
      const to = elements(dst, (a / chunk) * inner + i, piece.inner);
      launchPass(pass, piece, from, to, recorder);
    }
  }
}

function fill(output: Span, bits: number, recorder: Recorder): void {
  const room = roomOf(recorder) * 4;
  for (let start = 0; start < output.byteLength; start += room) {
    const piece = slice(output, start, Math.min(room, output.byteLength - start));
    const { span, byteOffset } = bindable(piece, recorder.traits.storageAlignment);
    const count = piece.byteLength / 4;
    recorder.launch({
      kernel: fillWords,
      storage: { words: span },
      uniforms: { first: byteOffset / 4, count, value: bits },
      groups: Math.ceil(count / FILL_WORDS),
    });
  }
}

function elements(span: Span, first: number, count: number): Span {
  return slice(span, first * 4, count * 4);
}

import { defineKernel, type Kernel, mainOf } from '../kernel.ts';
import { apartFrom, bindable, slice } from '../operands.ts';
import type { Recorder, Span } from '../recorder.ts';

/** Words that one workgroup writes. */
const COPY_WORDS = 256;

/**
 * Copies bytes between offsets that are not multiples of 4. Each invocation makes one word of the destination out of
 * the two words of the source that its bytes lie in.
 *
 * Byte j of the destination, counted from the start of its first word, comes from byte j + shift of the source; `shift`
 * may be negative. Bytes `begin .. end - 1` are copied, the others keep their value.
 */
const copyBytes: Kernel = defineKernel({
  name: 'memory/copy-bytes',
  storage: {
    src: { access: 'read', type: 'array<u32>' },
    dst: { access: 'read_write', type: 'array<u32>' },
  },
  uniforms: { begin: 'u32', end: 'u32', shift: 'i32' },
  code: /* wgsl */ `
fn source_word(index: i32) -> u32 {
  return select(0u, src[u32(max(index, 0))], index >= 0 && index < i32(arrayLength(&src)));
}

${mainOf(COPY_WORDS)}
  let word = group_index(id, grid) * ${COPY_WORDS}u + lane;
  let first = word * 4u;
  if (first >= u.end || first + 4u <= u.begin) { return; }
  let place = i32(first) + u.shift;
  let index = place >> 2u;
  let bits = u32(place & 3) * 8u;
  var value = source_word(index) >> bits;
  if (bits != 0u) { value |= source_word(index + 1) << (32u - bits); }
  let low = 0xffffffffu << (8u * (max(u.begin, first) - first));
  let high = 0xffffffffu >> (8u * (first + 4u - min(u.end, first + 4u)));
  let mask = low & high;
  dst[word] = (dst[word] & ~mask) | (value & mask);
}`,
});

/** Words that one workgroup writes. */
const FILL_WORDS: number = 256 * 4;

/** Sets `count` words from `first` on to `value`. Each invocation writes 4, 256 apart. */
const fillWords: Kernel = defineKernel({
  name: 'memory/fill-words',
  storage: { words: { access: 'read_write', type: 'array<u32>' } },
  uniforms: { first: 'u32', count: 'u32', value: 'u32' },
  code: /* wgsl */ `
${mainOf(256)}
  let start = group_index(id, grid) * ${FILL_WORDS}u + lane;
  for (var i = 0u; i < 4u; i++) {
    let index = start + i * 256u;
    if (index < u.count) { words[u.first + index] = u.value; }
  }
}`,
});

/**
 * Replaces the bits of `mask` in one 32-bit word, for the bytes at the ends of a range that begins or ends inside a word.
 * One invocation.
 */
const mergeWord: Kernel = defineKernel({
  name: 'memory/merge-word',
  storage: { words: { access: 'read_write', type: 'array<u32>' } },
  uniforms: { index: 'u32', mask: 'u32', value: 'u32' },
  code: /* wgsl */ `
@compute @workgroup_size(1)
fn main() {
  words[u.index] = (words[u.index] & ~u.mask) | (u.value & u.mask);
}`,
});

/** Every kernel of memory operations. */
export const MEMORY_KERNELS: readonly Kernel[] = [copyBytes, fillWords, mergeWord];

/** The transfers that memory operations need besides a recorder: those that the API itself offers. */
export interface MemoryRecorder {
  record(op: string, plan: (recorder: Recorder) => void): void;
  /** Writes host memory; offset and length are multiples of 4. */
  write(span: Span, bytes: Uint8Array): void;
  /** Sets bytes to zero; offset and length are multiples of 4. */
  clear(span: Span): void;
}

/** A range of bytes cut at word boundaries: up to 3 bytes, whole words, up to 3 bytes. */
interface Cut {
  readonly head: number;
  readonly body: number;
  readonly tail: number;
}

function cut({ byteOffset, byteLength }: Span): Cut {
  const head = Math.min((4 - (byteOffset % 4)) % 4, byteLength);
  const tail = (byteLength - head) % 4;
  return { head, body: byteLength - head - tail, tail };
}

/** Host to device, at any byte offset and of any length. */
export function planCopyHtod(dst: Span, src: Uint8Array, memory: MemoryRecorder): void {
  const { head, body, tail } = cut(dst);
  if (body > 0) memory.write(slice(dst, head, body), src.subarray(head, head + body));
  memory.record('copyHtod', (recorder) => {
    if (head > 0) writePartOfWord(slice(dst, 0, head), src.subarray(0, head), recorder);
    if (tail > 0) writePartOfWord(slice(dst, head + body, tail), src.subarray(head + body), recorder);
  });
}

/** Sets every byte of a range. */
export function planFill(dst: Span, byte: number, memory: MemoryRecorder): void {
  const { head, body, tail } = cut(dst);
  if (body > 0 && byte === 0) memory.clear(slice(dst, head, body));
  memory.record('fill', (recorder) => {
    const bytes = new Uint8Array(3).fill(byte);
    if (head > 0) writePartOfWord(slice(dst, 0, head), bytes.subarray(0, head), recorder);
    if (body > 0 && byte !== 0) fillBody(slice(dst, head, body), byte * 0x01010101, recorder);
    if (tail > 0) writePartOfWord(slice(dst, head + body, tail), bytes.subarray(0, tail), recorder);
  });
}

/** Device to device, at any byte offsets and of any length; the ranges do not overlap but may lie in one buffer. */
export function planCopyDtod(dst: Span, source: Span, recorder: Recorder): void {
  const src = apartFrom(dst, source, recorder);
  if (dst.byteOffset % 4 === 0 && src.byteOffset % 4 === 0 && dst.byteLength % 4 === 0) {
    recorder.copy(dst, src);
    return;
  }
  // In windows, so that each side fits a binding. Both sides of a window may begin inside a word.
  const { storageAlignment, maxBindingBytes } = recorder.traits;
  // The kernel counts bytes in i32.
  const windowBytes = Math.min(maxBindingBytes - storageAlignment - 8, 2 ** 30);
  for (let start = 0; start < dst.byteLength; start += windowBytes) {
    const length = Math.min(windowBytes, dst.byteLength - start);
    const to = bindable(slice(dst, start, length), storageAlignment);
    const from = bindable(slice(src, start, length), storageAlignment);
    const end = to.byteOffset + length;
    recorder.launch({
      kernel: copyBytes,
      storage: { src: from.span, dst: to.span },
      uniforms: { begin: to.byteOffset, end, shift: from.byteOffset - to.byteOffset },
      groups: Math.ceil(end / (4 * COPY_WORDS)),
    });
  }
}

function fillBody(dst: Span, value: number, recorder: Recorder): void {
  const { storageAlignment, maxBindingBytes } = recorder.traits;
  const windowBytes = maxBindingBytes - storageAlignment;
  for (let start = 0; start < dst.byteLength; start += windowBytes) {
    const length = Math.min(windowBytes, dst.byteLength - start);
    const { span, byteOffset } = bindable(slice(dst, start, length), storageAlignment);
    recorder.launch({
      kernel: fillWords,
      storage: { words: span },
      uniforms: { first: byteOffset / 4, count: length / 4, value },
      groups: Math.ceil(length / 4 / FILL_WORDS),
    });
  }
}

/** Writes bytes that lie within one word. */
function writePartOfWord(dst: Span, bytes: Uint8Array, recorder: Recorder): void {
  const { span, byteOffset } = bindable(dst, recorder.traits.storageAlignment);
  const shift = (byteOffset % 4) * 8;
  let value = 0;
  let mask = 0;
  for (const [index, byte] of bytes.entries()) {
    value |= byte << (shift + 8 * index);
    mask |= 0xff << (shift + 8 * index);
  }
  recorder.launch({
    kernel: mergeWord,
    storage: { words: span },
    uniforms: { index: Math.floor(byteOffset / 4), mask: mask >>> 0, value: value >>> 0 },
    groups: 1,
  });
}

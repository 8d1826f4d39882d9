import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeBuffer, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import { slice } from '../operands.ts';
import type { Launch, Recorder, Span, StorageBuffer } from '../recorder.ts';
import { type MemoryRecorder, planCopyDtod, planCopyHtod, planFill } from './plan.ts';

/** Buffers as bytes, changed by what plans ask for as a device would. */
class ByteDevice extends PlanRecorder implements MemoryRecorder {
  readonly #bytes = new Map<StorageBuffer, Uint8Array>();

  bytesOf(buffer: StorageBuffer): Uint8Array {
    let bytes = this.#bytes.get(buffer);
    if (bytes === undefined) {
      bytes = new Uint8Array(buffer.size);
      this.#bytes.set(buffer, bytes);
    }
    return bytes;
  }

  record(_op: string, plan: (recorder: Recorder) => void): void {
    plan(this);
  }

  write(span: Span, bytes: Uint8Array): void {
    expect([span.byteOffset % 4, bytes.length % 4]).toEqual([0, 0]);
    this.bytesOf(span.buffer).set(bytes, span.byteOffset);
  }

  clear(span: Span): void {
    expect([span.byteOffset % 4, span.byteLength % 4]).toEqual([0, 0]);
    this.#viewOf(span).fill(0);
  }

  override copy(dst: Span, src: Span): void {
    super.copy(dst, src);
    this.#viewOf(dst).set(this.#viewOf(src).subarray(0, dst.byteLength));
  }

  override launch(launch: Launch): void {
    super.launch(launch);
    const { kernel, storage, uniforms, groups } = launch;
    const bound = (name: string): DataView => {
      const view = this.#viewOf(storage[name] as Span);
      return new DataView(view.buffer, view.byteOffset, view.byteLength);
    };
    const value = (name: string): number => uniforms[name] as number;
    if (kernel.name === 'memory/merge-word') {
      const words = bound('words');
      const old = words.getUint32(value('index') * 4, true);
      words.setUint32(value('index') * 4, (old & ~value('mask')) | (value('value') & value('mask')), true);
    } else if (kernel.name === 'memory/fill-words') {
      expect(groups * 1024).toBeGreaterThanOrEqual(value('count'));
      const words = bound('words');
      for (let i = 0; i < value('count'); i++) words.setUint32((value('first') + i) * 4, value('value'), true);
    } else {
      expect(kernel.name).toBe('memory/copy-bytes');
      expect(groups * 1024).toBeGreaterThanOrEqual(value('end'));
      const [dst, src] = [bound('dst'), bound('src')];
      for (let j = value('begin'); j < value('end'); j++) dst.setUint8(j, src.getUint8(j + value('shift')));
    }
  }

  #viewOf({ buffer, byteOffset, byteLength }: Span): Uint8Array {
    return this.bytesOf(buffer).subarray(byteOffset, byteOffset + byteLength);
  }
}

const SIZE = 8192;
const device = fc.constantFrom(TEST_DEVICES.tiny, TEST_DEVICES.lavapipe);
const range = fc.oneof(
  fc.record({ offset: fc.nat(40), length: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ offset: fc.nat(600), length: fc.integer({ min: 1, max: 3000 }) }),
);

/** A device with one buffer of random bytes, and a copy of them to do the same to. */
function withBytes(traits: (typeof TEST_DEVICES)['tiny']): {
  memory: ByteDevice;
  buffer: StorageBuffer;
  model: Uint8Array;
} {
  const memory = new ByteDevice(traits);
  const buffer = fakeBuffer(SIZE);
  const model = Uint8Array.from({ length: SIZE }, (_, i) => (i * 89) % 251);
  memory.bytesOf(buffer).set(model);
  return { memory, buffer, model };
}

function firstDifference(got: Uint8Array, want: Uint8Array): number {
  return want.findIndex((byte, index) => byte !== got[index]);
}

describe('memory plans change the bytes of the range and no other', () => {
  it('copyHtod', () => {
    fc.assert(
      fc.property(device, range, (traits, { offset, length }) => {
        const { memory, buffer, model } = withBytes(traits);
        const bytes = Uint8Array.from({ length }, (_, i) => 255 - (i % 200));
        planCopyHtod({ buffer, byteOffset: offset, byteLength: length }, bytes, memory);
        model.set(bytes, offset);
        expect(firstDifference(memory.bytesOf(buffer), model)).toBe(-1);
      }),
    );
  });

  it('fill', () => {
    fc.assert(
      fc.property(device, range, fc.constantFrom(0, 0xab, 0xff), (traits, { offset, length }, byte) => {
        const { memory, buffer, model } = withBytes(traits);
        planFill({ buffer, byteOffset: offset, byteLength: length }, byte, memory);
        model.fill(byte, offset, offset + length);
        expect(firstDifference(memory.bytesOf(buffer), model)).toBe(-1);
      }),
    );
  });

  it('copyDtod between two buffers and inside one', () => {
    fc.assert(
      fc.property(device, range, fc.nat(40), fc.boolean(), (traits, { offset, length }, from, isInside) => {
        const { memory, buffer, model } = withBytes(traits);
        const source = isInside ? { buffer, start: offset + length + from } : { buffer: fakeBuffer(SIZE), start: from };
        const bytes = Uint8Array.from({ length }, (_, i) => (i * 31) % 256);
        const src = slice({ buffer: source.buffer, byteOffset: 0, byteLength: SIZE }, source.start, length);
        memory.bytesOf(src.buffer).set(bytes, src.byteOffset);
        if (isInside) model.set(bytes, src.byteOffset);
        planCopyDtod({ buffer, byteOffset: offset, byteLength: length }, src, memory);
        model.set(bytes, offset);
        expect(firstDifference(memory.bytesOf(buffer), model)).toBe(-1);
      }),
    );
  });
});

it('whole words need no kernel', () => {
  const { memory, buffer } = withBytes(TEST_DEVICES.gpu);
  const span = { buffer, byteOffset: 8, byteLength: 64 };
  planCopyHtod(span, new Uint8Array(64), memory);
  planFill(span, 0, memory);
  planCopyDtod(span, { buffer: fakeBuffer(64), byteOffset: 0, byteLength: 64 }, memory);
  expect(memory.launches).toEqual([]);
});

import { type DevicePtr, offsetPtr } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { WasmBackend } from '../src/index.ts';

const LENGTHS = Array.from({ length: 80 }, (_, i) => i + 1);
const OFFSETS = Array.from({ length: 16 }, (_, i) => i);
/** Each copy has its own place, with guard bytes on both sides. */
const PLACE = 128;
const GUARD = 0xa5;
const SOURCE = Uint8Array.from({ length: 96 }, (_, i) => (i * 37 + 11) % 251);

type Write = (
  backend: WasmBackend,
  to: DevicePtr,
  source: DevicePtr,
  sourceOffset: number,
  length: number,
) => Uint8Array;

const WRITES: Readonly<Record<string, Write>> = {
  copyDtod(backend, to, source, sourceOffset, length) {
    backend.copyDtod(to, offsetPtr(source, sourceOffset), length);
    return SOURCE.subarray(sourceOffset, sourceOffset + length);
  },
  copyHtod(backend, to, _, sourceOffset, length) {
    const bytes = SOURCE.subarray(sourceOffset, sourceOffset + length);
    backend.copyHtod(to, bytes);
    return bytes;
  },
  fill(backend, to, _, sourceOffset, length) {
    const byte = SOURCE[sourceOffset] as number;
    backend.fill(to, byte, length);
    return new Uint8Array(length).fill(byte);
  },
};

describe.each(['threads', 'worker', 'inline'] as const)('1 to 80 bytes at every offset, mode %s', (mode) => {
  it.each(Object.entries(WRITES))('%s', async (_, write) => {
    await using backend = await WasmBackend.create({ mode });
    const source = backend.alloc(SOURCE.length);
    backend.copyHtod(source, SOURCE);
    const target = backend.alloc(LENGTHS.length * PLACE);
    const got = new Uint8Array(LENGTHS.length * PLACE);
    for (const sourceOffset of OFFSETS) {
      for (const offset of OFFSETS) {
        const want = new Uint8Array(got.length).fill(GUARD);
        // Queued, so that the writes which follow find the device busy or idle, as it happens.
        backend.fill(target, GUARD, want.length);
        for (const length of LENGTHS) {
          const at = (length - 1) * PLACE + 16 + offset;
          want.set(write(backend, offsetPtr(target, at), source, sourceOffset, length), at);
        }
        await backend.copyDtoh(got, target);
        expect(Buffer.compare(got, want), `from offset ${sourceOffset} to offset ${offset}`).toBe(0);
      }
    }
  });

  it('copyDtoh', async () => {
    await using backend = await WasmBackend.create({ mode });
    const source = backend.alloc(SOURCE.length);
    backend.copyHtod(source, SOURCE);
    for (const sourceOffset of OFFSETS) {
      for (const offset of OFFSETS) {
        const want = new Uint8Array(LENGTHS.length * PLACE).fill(GUARD);
        const got = want.slice();
        const reads = LENGTHS.map((length) => {
          const at = (length - 1) * PLACE + 16 + offset;
          want.set(SOURCE.subarray(sourceOffset, sourceOffset + length), at);
          return backend.copyDtoh(got.subarray(at, at + length), offsetPtr(source, sourceOffset));
        });
        // Every other time something follows the reads, which then get copies.
        if (offset % 2 === 1) backend.copyHtod(source, SOURCE);
        await Promise.all(reads);
        expect(Buffer.compare(got, want), `from offset ${sourceOffset} to offset ${offset}`).toBe(0);
      }
    }
  });
});

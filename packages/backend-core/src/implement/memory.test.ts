import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { expectError, expectInvalid, expectRejection } from '../../test/expect-error.ts';
import { MemoryBackend } from '../../test/memory-backend.ts';
import { type DevicePtr, NULL_PTR, offsetPtr } from '../index.ts';
import { SLOT_BYTES } from './address-slots.ts';

const ptr = (value: unknown): DevicePtr => value as DevicePtr;

function detached(): Float32Array {
  const view = new Float32Array(4);
  structuredClone(view.buffer, { transfer: [view.buffer] });
  return view;
}

/** A length-tracking view whose buffer has shrunk below its offset. */
function outOfBounds(): Uint8Array {
  type Resizable = new (
    length: number,
    options: { maxByteLength: number },
  ) => ArrayBuffer & { resize(n: number): void };
  const buffer = new (ArrayBuffer as unknown as Resizable)(16, { maxByteLength: 16 });
  const view = new Uint8Array(buffer, 8);
  buffer.resize(4);
  return view;
}

describe('alloc', () => {
  it.each([-1, 1.5, Number.NaN, Infinity, 2 ** 53, '8', undefined])('%s bytes', async (size) => {
    const backend = await MemoryBackend.open();
    const error = expectInvalid(() => backend.alloc(size as number));
    expect(error.detail).toMatch(/^bytes must be a non-negative safe integer, got /);
    expect(error).toMatchObject({ op: 'alloc', backend: 'memory' });
  });

  it('0 bytes, and options of a wrong type', async () => {
    const backend = await MemoryBackend.open();
    expectInvalid(() => backend.alloc(0), 'cannot allocate 0 bytes');
    expectInvalid(() => backend.alloc(8, null as never), 'options must be an object, got null');
    expectInvalid(() => backend.alloc(8, { label: 5 } as never), 'label must be a string, got 5');
    expect(backend.hooks).toEqual([]);
  });

  it('passes size and label on, and aligns to 256 bytes', async () => {
    const backend = await MemoryBackend.open();
    for (const size of [1, 255, 256, 257]) expect(backend.alloc(size) % 256).toBe(0);
    backend.alloc(12, { label: 'weights' });
    expect(backend.calls.at(-1)).toEqual([12, 'weights']);
  });

  it('above the largest allocation', async () => {
    const backend = await MemoryBackend.open({ maxAllocationBytes: 1024 });
    backend.alloc(1024);
    const error = expectError(
      () => backend.alloc(1025),
      'OUT_OF_MEMORY',
      '1025 bytes exceed the largest allocation, 1024',
    );
    expect(error).toMatchObject({ requestedBytes: 1025, inUseBytes: 1024, limitBytes: 1024, op: 'alloc' });
    expect(error.message).toBe('out of device memory: 1025 bytes exceed the largest allocation, 1024');
  });

  it('above memoryLimitBytes', async () => {
    const backend = await MemoryBackend.open({ memoryLimitBytes: 100 });
    const first = backend.alloc(60);
    const error = expectError(() => backend.alloc(41), 'OUT_OF_MEMORY', '41 bytes wanted, 60 of 100 in use');
    expect(error).toMatchObject({ requestedBytes: 41, inUseBytes: 60, limitBytes: 100, backend: 'memory' });
    expect(backend.memory()).toMatchObject({ inUseBytes: 60, limitBytes: 100 });
    backend.alloc(40);
    backend.free(first);
    backend.alloc(60);
  });

  it.each([
    [0, '0'],
    [-1, '-1'],
    [1.5, '1.5'],
    [Number.NaN, 'NaN'],
    ['5', '"5"'],
    [5n, '5n'],
    [Object.create(null), 'an object'],
  ])('memoryLimitBytes: case %#', (memoryLimitBytes, shown) => {
    const { detail } = expectInvalid(() => new MemoryBackend({ memoryLimitBytes }));
    expect(detail).toBe(`memoryLimitBytes must be a positive safe integer, got ${shown}`);
  });

  it('leaves nothing behind when the device refuses', async () => {
    const backend = await MemoryBackend.open();
    backend.failing.set('alloc', new Error('no'));
    expectError(() => backend.alloc(8), 'DEVICE_ERROR', 'no');
    expect(backend.memory()).toMatchObject({ inUseBytes: 0, liveAllocations: 0 });
  });
});

it('native memory is given back when no addresses are left for it', async () => {
  class Boundless extends MemoryBackend {
    protected override doAlloc(_bytes: number, label: string | undefined): Uint8Array {
      return super.doAlloc(1, label);
    }
  }
  const backend = new Boundless({ maxAllocationBytes: SLOT_BYTES });
  await backend.init();
  expectError(() => backend.alloc(SLOT_BYTES), 'OUT_OF_MEMORY');
  expect(backend.hooks).toEqual(['init', 'alloc', 'free']);
  expect(backend.memory()).toMatchObject({ inUseBytes: 0, liveAllocations: 0 });
});

describe('memory counters', () => {
  it('count what is live', async () => {
    const backend = await MemoryBackend.open();
    expect(backend.memory()).toEqual({ inUseBytes: 0, pooledBytes: 0, peakBytes: 0, liveAllocations: 0 });
    const a = backend.alloc(100);
    const b = backend.alloc(50);
    expect(backend.memory()).toMatchObject({ inUseBytes: 150, peakBytes: 150, liveAllocations: 2 });
    backend.free(a);
    backend.alloc(20);
    expect(backend.memory()).toMatchObject({ inUseBytes: 70, peakBytes: 150, liveAllocations: 2 });
    backend.free(b);
    expect(backend.memory()).toMatchObject({ inUseBytes: 20, peakBytes: 150, liveAllocations: 1 });
  });
});

describe('free', () => {
  it('gives the native memory back, once', async () => {
    const backend = await MemoryBackend.open();
    const a = backend.alloc(8);
    backend.free(a);
    expect(backend.hooks).toEqual(['alloc', 'free']);
    const error = expectInvalid(() => backend.free(a), `unknown handle ${a}, already freed`);
    expect(error).toMatchObject({ op: 'free', hint: 'the allocation was freed before' });
  });

  it('says what is wrong with a pointer', async () => {
    const backend = await MemoryBackend.open();
    const other = await MemoryBackend.open();
    const a = backend.alloc(8);
    const hint = (pointer: number, known = '') =>
      expectInvalid(() => backend.free(ptr(pointer)), `unknown handle ${pointer}${known}`).hint;
    expect(hint(NULL_PTR)).toBe('this is the null pointer');
    expect(hint(1)).toBe('the pointer is not from this backend object');
    expect(hint(other.alloc(8), ", another backend's")).toBe('the pointer is not from this backend object');
    expect(hint(a + 4)).toBe('the pointer is 4 bytes inside an allocation, not its start');
    expect(hint(a + 8)).toBe('the pointer is 0 bytes past the end of an allocation');
    expect(hint(a + 2 ** 30)).toBe('nothing was ever allocated there');
    expectInvalid(() => backend.free(ptr('x')), 'ptr must be a DevicePtr, got "x"');
    expectInvalid(() => backend.free(ptr(-8)), 'ptr must be a DevicePtr, got -8');
    expect(backend.memory().liveAllocations).toBe(1);
  });
});

describe('copies and fills', () => {
  it('move bytes at any offset', async () => {
    const backend = await MemoryBackend.open();
    const a = backend.alloc(16);
    const b = backend.alloc(16);
    backend.fill(a, 7, 16);
    backend.copyHtod(offsetPtr(a, 3), Uint8Array.of(1, 2, 3));
    backend.copyDtod(offsetPtr(b, 1), offsetPtr(a, 2), 5);
    backend.fill(b, 255, 1);
    const host = new Uint8Array(6);
    await backend.copyDtoh(host, b);
    expect([...host]).toEqual([255, 7, 1, 2, 3, 7]);
  });

  it('take every kind of view, and only its part of the buffer', async () => {
    const backend = await MemoryBackend.open();
    const a = backend.alloc(8);
    const buffer = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]).buffer;
    const shared = new Uint8Array(new SharedArrayBuffer(2)).fill(9);
    const foreign = runInNewContext('new DataView(new ArrayBuffer(2))') as DataView;
    for (const view of [new DataView(buffer, 2, 3), new Uint16Array(buffer, 4, 1), shared, foreign]) {
      backend.copyHtod(a, view);
      expect((backend.calls.at(-1) as [unknown, Uint8Array])[1]).toHaveLength(view.byteLength);
      const back = new DataView(new SharedArrayBuffer(8), 1, view.byteLength);
      await backend.copyDtoh(back, a);
      const want = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      expect(new Uint8Array(back.buffer, 1, view.byteLength)).toEqual(Uint8Array.from(want));
    }
  });

  it('of nothing do nothing, with null pointers', async () => {
    const backend = await MemoryBackend.open();
    backend.copyHtod(NULL_PTR, new Uint8Array());
    await backend.copyDtoh(new Float32Array(), NULL_PTR);
    backend.copyDtod(NULL_PTR, NULL_PTR, 0);
    backend.fill(NULL_PTR, 0, 0);
    expect(backend.hooks).toEqual([]);
  });

  it('refuse what is no view of live host memory', async () => {
    const backend = await MemoryBackend.open();
    const a = backend.alloc(16);
    for (const view of [detached(), outOfBounds()]) {
      expectInvalid(() => backend.copyHtod(a, view), 'src is detached or out of bounds of its buffer');
      // Also where a detached view could pass for an empty one.
      expectInvalid(() => backend.copyHtod(NULL_PTR, view), 'src is detached or out of bounds of its buffer');
      const back = backend.copyDtoh(view, a);
      await expectRejection(back, 'INVALID_ARGUMENT', 'dst is detached or out of bounds of its buffer');
    }
    const dataView = new DataView(new ArrayBuffer(4));
    structuredClone(dataView.buffer, { transfer: [dataView.buffer] });
    expectInvalid(() => backend.copyHtod(a, dataView), 'src is detached or out of bounds of its buffer');
    expectInvalid(() => backend.copyHtod(a, [1, 2] as never), 'src must be a typed array or DataView, got [1, 2]');
    expectInvalid(
      () => backend.copyHtod(a, new ArrayBuffer(4) as never),
      'src must be a typed array or DataView, got ArrayBuffer',
    );
    const none = backend.copyDtoh(null as never, a);
    await expectRejection(none, 'INVALID_ARGUMENT', 'dst must be a typed array or DataView, got null');
    expect(backend.hooks).toEqual(['alloc']);
  });

  it('stay inside their allocation', async () => {
    const backend = await MemoryBackend.open();
    const a = backend.alloc(16, { label: 'a' });
    const b = backend.alloc(16);
    const detail = (name: string) => `${name} is out of bounds: 8 bytes at offset 9 of its allocation "a" of 16 bytes`;
    const late = offsetPtr(a, 9);
    expectInvalid(() => backend.copyHtod(late, new Float64Array(1)), detail('dst'));
    await expectRejection(backend.copyDtoh(new Float64Array(1), late), 'INVALID_ARGUMENT', detail('src'));
    expectInvalid(() => backend.copyDtod(late, b, 8), detail('dst'));
    expectInvalid(() => backend.copyDtod(b, late, 8), detail('src'));
    expectInvalid(() => backend.fill(late, 0, 8), detail('dst'));
    expectInvalid(() => backend.fill(offsetPtr(a, 16), 0, 1), `unknown handle ${a + 16}`);
    expectInvalid(() => backend.fill(a, 0, Number.MAX_SAFE_INTEGER));
  });

  it('check their types', async () => {
    const backend = await MemoryBackend.open();
    const a = backend.alloc(16);
    expectInvalid(() => backend.copyHtod(ptr('1'), new Uint8Array()), 'dst must be a DevicePtr, got "1"');
    await expectRejection(
      backend.copyDtoh(new Uint8Array(), ptr(0.5)),
      'INVALID_ARGUMENT',
      'src must be a DevicePtr, got 0.5',
    );
    expectInvalid(() => backend.copyDtod(ptr(-1), a, 0), 'dst must be a DevicePtr, got -1');
    expectInvalid(() => backend.copyDtod(a, ptr(null), 0), 'src must be a DevicePtr, got null');
    expectInvalid(() => backend.copyDtod(a, a, -1), 'bytes must be a non-negative safe integer, got -1');
    expectInvalid(() => backend.fill(a, 256, 1), 'byte must be an integer from 0 to 255, got 256');
    expectInvalid(() => backend.fill(a, -1, 0), 'byte must be an integer from 0 to 255, got -1');
    expectInvalid(() => backend.fill(a, 0.5, 1), 'byte must be an integer from 0 to 255, got 0.5');
    expectInvalid(() => backend.fill(a, 0, 2 ** 53), 'bytes must be a non-negative safe integer, got 9007199254740992');
  });

  it('copyDtod does not overlap', async () => {
    const backend = await MemoryBackend.open();
    const a = backend.alloc(16);
    expectInvalid(() => backend.copyDtod(a, a, 1), 'dst overlaps src');
    expectInvalid(() => backend.copyDtod(a, offsetPtr(a, 7), 8), 'dst overlaps src');
    expectInvalid(() => backend.copyDtod(offsetPtr(a, 7), a, 8), 'dst overlaps src');
    backend.copyDtod(offsetPtr(a, 8), a, 8);
  });
});

describe('native operands', () => {
  it('reach from the pointer to the end of its allocation', async () => {
    const backend = await MemoryBackend.open();
    const a = backend.alloc(16);
    expect(backend.operand(offsetPtr(a, 6))).toMatchObject({ byteOffset: 6, byteLength: 10 });
    expectInvalid(() => backend.operand(offsetPtr(a, 16)), `unknown handle ${a + 16}`);
  });
});

import { BackendError, type ComputeBackend, type DevicePtr, isBackendError } from '@concord/backend-core';
import type { CpuBackend } from '@concord/backend-cpu';
import { mutantsOf, type Wrap, inFront, inMethod, type Mutant } from './mutant.ts';
import { accepting, unless } from './refused.ts';

/** Bytes of one address slot: where the pointers of another backend object begin. */
const SLOT = 2 ** 42;
const rounded = (bytes: number): number => Math.ceil(bytes / 4) * 4;
/** `free` only marks; what is used after it still works. */
const useAfterFree: Wrap = inFront((backend) => {
  const freed = new Map<DevicePtr, number>();
  const unknown = (ptr: DevicePtr): BackendError => new BackendError('INVALID_ARGUMENT', `unknown handle ${ptr}`);
  return {
    free: (ptr) => {
      if (freed.has(ptr)) throw unknown(ptr);
      const bytes = accepting(() => backend.native.bytesOf(ptr).byteLength, -1);
      if (bytes < 0 || ptr % 256 !== 0) return backend.free(ptr);
      freed.set(ptr, bytes);
    },
    memory: () => {
      const info = backend.memory();
      const bytes = [...freed.values()].reduce((x, y) => x + y, 0);
      return {
        ...info,
        inUseBytes: info.inUseBytes - bytes,
        liveAllocations: info.liveAllocations - freed.size,
      };
    },
  };
});

/** The low bits of a pointer of another object are looked for here too. */
const foreignPointers: Wrap = inFront((backend) => {
  let slot = 0;
  const own = (ptr: DevicePtr): DevicePtr => ((ptr % SLOT) + slot) as DevicePtr;
  const found = <T>(ptr: DevicePtr, call: (ptr: DevicePtr) => T): T => {
    return unless(
      /unknown handle/,
      () => call(ptr),
      () =>
        unless(
          /unknown handle/,
          () => call(own(ptr)),
          () => call(ptr),
        ),
    );
  };
  return {
    alloc: (...args) => {
      const ptr = backend.alloc(...args);
      slot = Math.floor(ptr / SLOT) * SLOT;
      return ptr;
    },
    copyHtod: (dst, src) => found(dst, (ptr) => backend.copyHtod(ptr, src)),
    fill: (dst, byte, bytes) => found(dst, (ptr) => backend.fill(ptr, byte, bytes)),
  };
});

const memoryInfo = (change: (info: ReturnType<ComputeBackend['memory']>) => object): Wrap =>
  inMethod('memory', (backend) => ({ ...backend.memory(), ...change(backend.memory()) }));

const BUGS: Readonly<Record<string, Wrap>> = {
  'copyHtod rounds the length up to 4': inMethod('copyHtod', (backend, dst, src) => {
    backend.copyHtod(dst, src);
    if (src.byteLength > 0) backend.native.bytesOf(dst).fill(0, src.byteLength, rounded(src.byteLength));
  }),
  'copyHtod ignores where the view begins': inMethod('copyHtod', (backend, dst, src) =>
    backend.copyHtod(dst, ArrayBuffer.isView(src) ? new Uint8Array(src.buffer, 0, src.byteLength) : src),
  ),
  'copyHtod takes a detached view for an empty one': inMethod('copyHtod', (backend, dst, src) => {
    if (src?.byteLength !== 0) backend.copyHtod(dst, src);
  }),
  'copyHtod converts elements to bytes': inMethod('copyHtod', (backend, dst, src) =>
    backend.copyHtod(dst, src instanceof Float64Array ? new Uint8Array(Array.from(src, (x) => x & 255)) : src),
  ),
  'fill rounds the length up to 4': inMethod('fill', (backend, dst, byte, bytes) => {
    backend.fill(dst, byte, bytes);
    if (bytes > 0) backend.native.bytesOf(dst).fill(byte, bytes, rounded(bytes));
  }),
  'fill leaves out the last odd bytes': inMethod('fill', (backend, dst, byte, bytes) =>
    backend.fill(dst, byte, bytes > 4 ? bytes - (bytes % 4) : bytes),
  ),
  'fill with a byte modulo 256': inMethod('fill', (backend, dst, byte, bytes) =>
    backend.fill(dst, Number.isInteger(byte) ? byte & 255 : byte, bytes),
  ),
  'copyDtod rounds the length up to 4': inMethod('copyDtod', (backend, dst, src, bytes) => {
    backend.copyDtod(dst, src, bytes);
    if (bytes > 0) backend.native.bytesOf(dst).fill(0, bytes, rounded(bytes));
  }),
  'copyDtod rounds the source down to 4': inMethod('copyDtod', (backend, dst, src, bytes) =>
    backend.copyDtod(dst, Number.isSafeInteger(src) ? ((src - (src % 4)) as DevicePtr) : src, bytes),
  ),
  'copyDtod between overlapping ranges accepted': inMethod('copyDtod', (backend, dst, src, bytes) =>
    unless(
      /overlaps/,
      () => backend.copyDtod(dst, src, bytes),
      () => backend.native.bytesOf(dst).set(backend.native.bytesOf(src).slice(0, bytes)),
    ),
  ),
  'copyDtoh rounds the source down to 4': inMethod('copyDtoh', (backend, dst, src, options) =>
    backend.copyDtoh(dst, Number.isSafeInteger(src) ? ((src - (src % 4)) as DevicePtr) : src, options),
  ),
  'copyDtoh writes from the start of the buffer': inMethod('copyDtoh', (backend, dst, src, options) =>
    backend.copyDtoh(ArrayBuffer.isView(dst) ? new Uint8Array(dst.buffer, 0, dst.byteLength) : dst, src, options),
  ),
  'copyDtoh throws instead of rejecting': inMethod('copyDtoh', (backend, dst, src, options) => {
    backend.native.bytesOf(src);
    return backend.copyDtoh(dst, src, options);
  }),
  'copyDtoh clipped to the allocation': inMethod('copyDtoh', (backend, dst, src, options) => {
    const bytes = accepting(() => backend.native.bytesOf(src).byteLength, 0);
    if (!ArrayBuffer.isView(dst) || bytes === 0 || bytes >= dst.byteLength) return backend.copyDtoh(dst, src, options);
    return backend.copyDtoh(new Uint8Array(dst.buffer, dst.byteOffset, bytes), src, options);
  }),
  'fill out of bounds clipped': inMethod('fill', (backend, dst, byte, bytes) =>
    unless(
      /out of bounds/,
      () => backend.fill(dst, byte, bytes),
      () => backend.fill(dst, byte, backend.native.bytesOf(dst).byteLength),
    ),
  ),
  'double free accepted': inFront((backend) => {
    const freed = new Set<DevicePtr>();
    return {
      free: (ptr) => {
        if (freed.has(ptr)) accepting(() => backend.free(ptr), undefined);
        else backend.free(ptr);
        freed.add(ptr);
      },
    };
  }),
  'free of any pointer accepted': inMethod('free', (backend, ptr) =>
    unless(
      /unknown handle/,
      () => backend.free(ptr),
      () => {},
    ),
  ),
  'free of an interior pointer accepted': inMethod('free', (backend, ptr) =>
    backend.free((ptr > 0 ? ptr - (ptr % 256) : ptr) as DevicePtr),
  ),
  'use after free accepted': useAfterFree,
  'alloc(0) accepted': inMethod('alloc', (backend, bytes, options) => backend.alloc(bytes === 0 ? 1 : bytes, options)),
  'alloc of a fraction rounded': inMethod('alloc', (backend, bytes, options) =>
    backend.alloc(bytes > 0 && bytes < 2 ** 32 ? Math.ceil(bytes) : bytes, options),
  ),
  'new pointers aligned to 64 bytes only': inFront((backend) => {
    const moved = new Set<DevicePtr>();
    return {
      alloc: (bytes, options) => {
        if (bytes !== 257) return backend.alloc(bytes, options);
        const ptr = (backend.alloc(bytes + 64, options) + 64) as DevicePtr;
        moved.add(ptr);
        return ptr;
      },
      free: (ptr) => backend.free((moved.delete(ptr) ? ptr - 64 : ptr) as DevicePtr),
    };
  }),
  'more than the device has accepted': inMethod('alloc', (backend, bytes, options) =>
    backend.alloc(Number.isSafeInteger(bytes) && bytes > 2 ** 32 ? 2 ** 20 : bytes, options),
  ),
  'a refused allocation is sticky': inFront((backend) => {
    let sticky: Error | undefined;
    return {
      alloc: (...args) => {
        if (sticky !== undefined) throw sticky;
        try {
          return backend.alloc(...args);
        } catch (error) {
          if (isBackendError(error, 'OUT_OF_MEMORY')) sticky = error;
          throw error;
        }
      },
    };
  }),
  'free not counted': inFront((backend) => {
    let frees = 0;
    return {
      free: (ptr) => {
        backend.free(ptr);
        frees++;
      },
      memory: () => ({ ...backend.memory(), liveAllocations: backend.memory().liveAllocations + frees }),
    };
  }),
  'bytes in use rounded up to 256': memoryInfo(({ inUseBytes }) => ({ inUseBytes: Math.ceil(inUseBytes / 256) * 256 })),
  'the peak falls with what is in use': memoryInfo(({ inUseBytes }) => ({ peakBytes: inUseBytes })),
  'the pool grows with every free': inFront((backend) => {
    let pooledBytes = 0;
    return {
      free: (ptr) => {
        pooledBytes += accepting(() => backend.native.bytesOf(ptr).byteLength, 0) * 8;
        backend.free(ptr);
      },
      memory: () => ({ ...backend.memory(), pooledBytes }),
    };
  }),
};

/** Bugs of recordings. */
const RECORDING_BUGS: Readonly<Record<string, Wrap>> = {
  'a replay does nothing': inMethod('record', (backend, work) => ({
    ...disposable(backend.record(work)),
    replay: () => undefined,
  })),
  'replays after dispose': inMethod('record', (backend, work) => {
    const recording = backend.record(work);
    return { replay: () => recording.replay(), dispose: () => undefined };
  }),
  'memory that was freed is replayed': inMethod('record', (backend, work) => {
    const recording = backend.record(work);
    return { ...disposable(recording), replay: () => accepting(() => recording.replay(), undefined) };
  }),
  'slots are ignored': inMethod('record', (backend, work, options) => {
    const recording = backend.record(work, options);
    return { ...disposable(recording), replay: () => recording.replay() };
  }),
  'the memory of a slot stays that of the last replay': inMethod('record', (backend, work, options) => {
    const recording = backend.record(work, options);
    let last = {};
    return { ...disposable(recording), replay: (given) => recording.replay((last = { ...last, ...given })) };
  }),
  'the work is called again': inMethod('record', (_backend, work) => {
    const replay = (): void => work();
    replay();
    return { replay, dispose: () => undefined };
  }),
};

function disposable(recording: ReturnType<CpuBackend['record']>): { dispose: () => void } {
  return { dispose: () => recording.dispose() };
}

/** Bugs of allocation, copies, fills and order. */
export const memoryMutants: readonly Mutant[] = [
  ...mutantsOf('memory:', ['memory'], BUGS),
  ...mutantsOf('recordings:', ['memory'], RECORDING_BUGS, /recording/),
  // Two objects side by side are a matter of lifecycle.
  { name: 'memory: a foreign pointer accepted', ops: ['memory', 'lifecycle'], wrap: foreignPointers },
];

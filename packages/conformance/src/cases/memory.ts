import {
  type ComputeBackend,
  type DevicePtr,
  download,
  NULL_PTR,
  offsetPtr,
  type OpName,
  upload,
} from '@concord/backend-core';
import { compareAll, compareBytes } from '../checks/compare.ts';
import { type CaseContext, caseOf, type ConformanceCase, expectThat, initialized } from '../harness/case.ts';
import { expectRejects, expectThrows } from '../harness/planned-call.ts';

const INVALID = { code: 'INVALID_ARGUMENT' } as const;
/** Copies and fills of these offsets and lengths cross every alignment up to 16. */
const OFFSETS = [0, 1, 2, 3, 4, 5, 7, 8, 13];
const LENGTHS = [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 255, 256, 257];

const memoryCase = (id: string, run: ConformanceCase['run'], op?: OpName): ConformanceCase =>
  caseOf(`memory/${id}`, 'memory', run, op && { op, dtype: 'f32' });

async function read(backend: ComputeBackend, ptr: DevicePtr, bytes: number): Promise<Uint8Array> {
  const result = new Uint8Array(bytes);
  await backend.copyDtoh(result, ptr);
  return result;
}

const pattern = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 17 + 1) & 255);

/** Every offset with every length, for one way to write; the host does the same beside it. */
async function checkAllRanges(
  { backend }: CaseContext,
  write: (base: DevicePtr, offset: number, length: number, host: Uint8Array) => void,
): Promise<void> {
  const size = 512;
  const base = backend.alloc(size);
  const host = pattern(size, 3);
  backend.copyHtod(base, host);
  for (const offset of OFFSETS) for (const length of LENGTHS) write(base, offset, length, host);
  compareBytes('memory', await read(backend, base, size), host);
  backend.free(base);
}

const rangeCases = [
  memoryCase('copyHtod of every offset and length', (context) =>
    checkAllRanges(context, (base, offset, length, host) => {
      const bytes = pattern(length, offset + length);
      context.backend.copyHtod(offsetPtr(base, offset), bytes);
      host.set(bytes, offset);
    }),
  ),
  memoryCase('fill of every offset and length', (context) =>
    checkAllRanges(context, (base, offset, length, host) => {
      context.backend.fill(offsetPtr(base, offset), (offset * 16 + length) & 255, length);
      host.fill((offset * 16 + length) & 255, offset, offset + length);
    }),
  ),
  memoryCase('copyDtod within one allocation, every offset and length', (context) =>
    checkAllRanges(context, (base, offset, length, host) => {
      const from = 255 - (offset % 5);
      if (offset + length > from || from + length > host.length) return;
      context.backend.copyDtod(offsetPtr(base, offset), offsetPtr(base, from), length);
      host.copyWithin(offset, from, from + length);
    }),
  ),
  memoryCase('copyDtoh of every offset and length', async ({ backend }) => {
    const host = pattern(300, 5);
    const base = backend.alloc(300);
    backend.copyHtod(base, host);
    for (const offset of OFFSETS) {
      for (const length of LENGTHS) {
        const got = await read(backend, offsetPtr(base, offset), length);
        compareBytes(`bytes ${offset} and on`, got, host.slice(offset, offset + length));
      }
    }
    backend.free(base);
  }),
  memoryCase('copyDtod between allocations keeps every bit', async ({ backend }) => {
    const host = pattern(1001, 9);
    const from = backend.alloc(1001);
    const to = backend.alloc(1001);
    backend.copyHtod(from, host);
    backend.copyDtod(to, from, 1001);
    compareBytes('copy', await read(backend, to, 1001), host);
    backend.free(from);
    backend.free(to);
  }),
];

const orderCases = [
  memoryCase('a source may be changed after copyHtod', async ({ backend }) => {
    const source = new Float32Array(1000).fill(1);
    const ptr = backend.alloc(4000);
    backend.copyHtod(ptr, source);
    source.fill(2);
    compareAll('copy', await download(backend, ptr, 1000), new Float32Array(1000).fill(1), { bound: () => 0 });
    backend.free(ptr);
  }),
  memoryCase(
    'op, copyHtod, op see old then new',
    async ({ backend }) => {
      const x = upload(backend, [1, 2, 3, 4]);
      const first = backend.alloc(16);
      const second = backend.alloc(16);
      backend.unary({ op: 'neg', n: 4, input: x, output: first });
      backend.copyHtod(x, Float32Array.of(5, 6, 7, 8));
      backend.unary({ op: 'neg', n: 4, input: x, output: second });
      compareAll('first', await download(backend, first, 4), [-1, -2, -3, -4], { bound: () => 0 });
      compareAll('second', await download(backend, second, 4), [-5, -6, -7, -8], { bound: () => 0 });
      for (const ptr of [x, first, second]) backend.free(ptr);
    },
    'unary',
  ),
  memoryCase(
    'a chain of dependent ops runs in order',
    async ({ backend }) => {
      const x = upload(backend, [1, 1, 1, 1]);
      const y = upload(backend, [2, 2, 2, 2]);
      for (let i = 0; i < 50; i++) {
        backend.binary({ op: 'add', n: 4, a: x, b: y, output: x });
        backend.binary({ op: 'sub', n: 4, a: x, b: y, output: y });
      }
      // (x, y) becomes (x + y, x), the Fibonacci numbers from (1, 2) on; float32 rounds from the 36th on, alike.
      let [a, b] = [1, 2];
      for (let i = 0; i < 50; i++) {
        a = Math.fround(a + b);
        b = Math.fround(a - b);
      }
      compareAll('x', await download(backend, x, 4), [a, a, a, a], { bound: () => 0 });
      backend.free(x);
      backend.free(y);
    },
    'binary',
  ),
  memoryCase(
    'free while an op uses the memory, then reuse without a wait',
    async ({ backend }) => {
      const output = backend.alloc(4 * 50_000);
      const x = upload(backend, new Float32Array(50_000).fill(3));
      backend.unary({ op: 'neg', n: 50_000, input: x, output });
      backend.free(x);
      const next = upload(backend, new Float32Array(50_000).fill(9));
      compareAll('output', await download(backend, output, 50_000), new Float32Array(50_000).fill(-3), {
        bound: () => 0,
      });
      compareAll('next', await download(backend, next, 50_000), new Float32Array(50_000).fill(9), { bound: () => 0 });
      backend.free(output);
      backend.free(next);
    },
    'unary',
  ),
  memoryCase('copyDtoh reads what was there at the call', async ({ backend }) => {
    const x = upload(backend, [1, 2, 3]);
    const early = download(backend, x, 3);
    backend.fill(x, 0, 12);
    const late = download(backend, x, 3);
    // Awaited together: a failure of the first must not leave the second to reject unheard.
    const [first, second] = await Promise.all([early, late]);
    compareAll('early', first, [1, 2, 3], { bound: () => 0 });
    compareAll('late', second, [0, 0, 0], { bound: () => 0 });
    backend.free(x);
  }),
  memoryCase('many reads at once', async ({ backend }) => {
    const pointers = Array.from({ length: 40 }, (_, i) => upload(backend, [i, i + 0.5]));
    const results = await Promise.all(pointers.map((ptr) => download(backend, ptr, 2)));
    for (const [i, got] of results.entries()) compareAll(`read ${i}`, got, [i, i + 0.5], { bound: () => 0 });
    for (const ptr of pointers) backend.free(ptr);
  }),
];

const viewCases = [
  memoryCase('sources of every kind of view', async ({ backend }) => {
    const bytes = pattern(64, 2);
    const views: ArrayBufferView[] = [
      bytes,
      new DataView(bytes.buffer),
      new Float64Array(bytes.buffer),
      new BigInt64Array(bytes.buffer),
    ];
    // Browsers hide it from pages that are not cross-origin isolated.
    if (typeof SharedArrayBuffer === 'function') {
      const shared = new Uint8Array(new SharedArrayBuffer(64));
      shared.set(bytes);
      views.push(shared);
    }
    const ptr = backend.alloc(64);
    for (const view of views) {
      backend.fill(ptr, 0, 64);
      backend.copyHtod(ptr, view);
      compareBytes(view.constructor.name, await read(backend, ptr, 64), bytes);
    }
    backend.copyHtod(ptr, new Uint8Array(bytes.buffer, 3, 5));
    compareBytes('a view inside a buffer', await read(backend, ptr, 5), bytes.slice(3, 8));
    backend.free(ptr);
  }),
  memoryCase('destinations of every kind of view', async ({ backend }) => {
    const bytes = pattern(32, 4);
    const ptr = backend.alloc(32);
    backend.copyHtod(ptr, bytes);
    const buffer = new ArrayBuffer(40);
    for (const view of [new DataView(buffer, 8), new Float64Array(buffer, 8), new Uint8Array(buffer, 8)]) {
      new Uint8Array(buffer).fill(1);
      await backend.copyDtoh(view, ptr);
      compareBytes(view.constructor.name, new Uint8Array(buffer, 8), bytes);
      compareBytes('bytes before the view', new Uint8Array(buffer, 0, 8), new Uint8Array(8).fill(1));
    }
    backend.free(ptr);
  }),
  memoryCase('what is no view, or a detached one', async ({ backend }) => {
    const ptr = backend.alloc(64);
    const detached = new Float32Array(8);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    const bad: Readonly<Record<string, unknown>> = {
      'a detached view': detached,
      'an ArrayBuffer': new ArrayBuffer(8),
      'an array': [1, 2],
      'a string': 'text',
      null: null,
      undefined,
      'a number': 7,
    };
    for (const [what, view] of Object.entries(bad)) {
      expectThrows(`copyHtod of ${what}`, INVALID, () => backend.copyHtod(ptr, view as Uint8Array));
      await expectRejects(`copyDtoh into ${what}`, INVALID, () => backend.copyDtoh(view as Uint8Array, ptr));
    }
    backend.free(ptr);
  }),
  memoryCase('a Float64Array given to upload', async ({ backend }) => {
    const before = backend.memory().liveAllocations;
    for (const bad of [new Float64Array(4), new Uint16Array(4), 'text', ['1'], new Float32Array()] as unknown[]) {
      expectThrows(`upload of ${String(bad)}`, INVALID, () => upload(backend, bad as Float32Array));
    }
    expectThat(backend.memory().liveAllocations === before, 'a refused upload left an allocation behind');
  }),
];

const argumentCases = [
  memoryCase('sizes that are none', async ({ backend }) => {
    for (const bad of [0, Number.NaN, -1, 1.5, 2 ** 53, Infinity, '8', null, undefined] as unknown[]) {
      expectThrows(`alloc(${String(bad)})`, INVALID, () => backend.alloc(bad as number));
    }
    const ptr = backend.alloc(16);
    const other = backend.alloc(16);
    for (const bad of [Number.NaN, -1, 1.5, 2 ** 53, '8'] as unknown[]) {
      expectThrows(`fill ${String(bad)} bytes`, INVALID, () => backend.fill(ptr, 0, bad as number));
      expectThrows(`copyDtod ${String(bad)} bytes`, INVALID, () => backend.copyDtod(ptr, other, bad as number));
    }
    for (const bad of [256, -1, 0.5, Number.NaN, '1'] as unknown[]) {
      expectThrows(`fill with ${String(bad)}`, INVALID, () => backend.fill(ptr, bad as number, 4));
    }
    for (const bad of [Number.NaN, -4, 0.5, '1', null, undefined] as unknown[]) {
      expectThrows(`free(${String(bad)})`, INVALID, () => backend.free(bad as DevicePtr));
    }
    await expectRejects('timeout NaN', INVALID, () => backend.synchronize({ timeoutMs: Number.NaN }));
    backend.free(ptr);
    backend.free(other);
  }),
  memoryCase('ranges that leave their allocation', async ({ backend }) => {
    const ptr = backend.alloc(64);
    const other = backend.alloc(64);
    backend.fill(ptr, 7, 64);
    const bounds = { ...INVALID, detail: /out of bounds/ };
    expectThrows('copyHtod', bounds, () => backend.copyHtod(ptr, new Uint8Array(65)));
    expectThrows('copyHtod inside', bounds, () => backend.copyHtod(offsetPtr(ptr, 60), new Uint8Array(5)));
    await expectRejects('copyDtoh', bounds, () => backend.copyDtoh(new Uint8Array(65), ptr));
    expectThrows('copyDtod source', bounds, () => backend.copyDtod(other, offsetPtr(ptr, 1), 64));
    expectThrows('copyDtod destination', bounds, () => backend.copyDtod(offsetPtr(ptr, 1), other, 64));
    expectThrows('fill', bounds, () => backend.fill(ptr, 0, 65));
    expectThrows('past the end', INVALID, () => backend.fill(offsetPtr(ptr, 64), 0, 1));
    compareBytes('memory after', await read(backend, ptr, 64), new Uint8Array(64).fill(7));
    backend.free(ptr);
    backend.free(other);
  }),
  memoryCase('overlapping copyDtod', async ({ backend }) => {
    const ptr = backend.alloc(64);
    const overlap = { ...INVALID, detail: 'dst overlaps src' };
    expectThrows('itself', overlap, () => backend.copyDtod(ptr, ptr, 64));
    expectThrows('forward', overlap, () => backend.copyDtod(offsetPtr(ptr, 1), ptr, 2));
    expectThrows('backward', overlap, () => backend.copyDtod(ptr, offsetPtr(ptr, 31), 32));
    backend.copyDtod(offsetPtr(ptr, 32), ptr, 32);
    await backend.synchronize();
    backend.free(ptr);
  }),
  memoryCase('pointers that are not live', async ({ backend, create }) => {
    const freed = backend.alloc(64);
    backend.free(freed);
    const live = backend.alloc(64);
    const other = await initialized({ create });
    const foreign = other.alloc(64);
    for (const [bad, known] of [
      [NULL_PTR, ''],
      [freed, ', already freed'],
      [foreign, ", another backend's"],
    ] as const) {
      const unknown = { ...INVALID, detail: `unknown handle ${bad}${known}` };
      expectThrows('copyHtod', unknown, () => backend.copyHtod(bad, new Uint8Array(4)));
      await expectRejects('copyDtoh', unknown, () => backend.copyDtoh(new Uint8Array(4), bad));
      expectThrows('copyDtod to', unknown, () => backend.copyDtod(bad, live, 4));
      expectThrows('copyDtod from', unknown, () => backend.copyDtod(live, bad, 4));
      expectThrows('fill', unknown, () => backend.fill(bad, 0, 4));
      expectThrows('free', unknown, () => backend.free(bad));
    }
    expectThrows('free of an interior pointer', INVALID, () => backend.free(offsetPtr(live, 16)));
    backend.free(live);
    const labelled = backend.alloc(64, { label: 'weights' });
    backend.free(labelled);
    const named = { ...INVALID, detail: `unknown handle ${labelled} ("weights"), already freed` };
    expectThrows('free of a labelled one', named, () => backend.free(labelled));
  }),
];

const accountingCases = [
  memoryCase('counters follow alloc and free', async (context) => {
    const backend = await initialized(context);
    const start = backend.memory();
    expectThat(start.inUseBytes === 0 && start.liveAllocations === 0, 'a new backend has memory in use');
    const first = backend.alloc(1000);
    const second = backend.alloc(24);
    const { inUseBytes, liveAllocations } = backend.memory();
    expectThat(
      inUseBytes === 1024 && liveAllocations === 2,
      `${inUseBytes} bytes in ${liveAllocations}, want 1024 in 2`,
    );
    backend.free(first);
    const after = backend.memory();
    expectThat(after.inUseBytes === 24 && after.peakBytes === 1024, 'counters after free are wrong');
    backend.free(second);
  }),
  memoryCase('1,000 allocations and frees leave nothing behind', async ({ backend }) => {
    const before = backend.memory();
    for (let i = 0; i < 1000; i++) {
      const ptr = backend.alloc(4096 + (i % 7));
      backend.fill(ptr, i & 255, 16);
      backend.free(ptr);
    }
    await backend.synchronize();
    const after = backend.memory();
    expectThat(after.liveAllocations === before.liveAllocations, 'live allocations grew');
    expectThat(after.inUseBytes === before.inUseBytes, 'bytes in use grew');
    expectThat(after.pooledBytes <= before.pooledBytes + 2 ** 24, `${after.pooledBytes} bytes are pooled`);
  }),
  memoryCase('bases are aligned, distinct and apart', async ({ backend }) => {
    const sizes = [1, 2, 255, 256, 257, 4096];
    const pointers = sizes.map((bytes) => backend.alloc(bytes));
    for (const ptr of pointers) expectThat(ptr > 0 && ptr % 256 === 0, `pointer ${ptr} is not aligned to 256 bytes`);
    const sorted = pointers.map((ptr, i) => [ptr, sizes[i] as number] as const).sort((x, y) => x[0] - y[0]);
    for (const [i, [ptr]] of sorted.entries()) {
      const before = sorted[i - 1];
      if (before !== undefined) expectThat(ptr > before[0] + before[1], 'no guard gap between two allocations');
    }
    for (const ptr of pointers) backend.free(ptr);
  }),
  memoryCase('more than the device has is OUT_OF_MEMORY at once', async ({ backend }) => {
    const { maxAllocationBytes } = backend.capabilities.limits;
    const before = backend.memory();
    expectThrows('alloc', { code: 'OUT_OF_MEMORY' }, () => backend.alloc(maxAllocationBytes + 1));
    expectThrows('alloc', { code: 'OUT_OF_MEMORY' }, () => backend.alloc(2 ** 53 - 1));
    expectThat(backend.memory().inUseBytes === before.inUseBytes, 'a refused allocation is counted');
    // Not sticky: the next one works.
    backend.free(backend.alloc(16));
  }),
];

/** Allocation, copies, fills, and the order in which they and the ops take effect. */
export const memoryCases: readonly ConformanceCase[] = [
  ...rangeCases,
  ...orderCases,
  ...viewCases,
  ...argumentCases,
  ...accountingCases,
];

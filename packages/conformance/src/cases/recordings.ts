import { type ComputeBackend, type DevicePtr, download, offsetPtr, upload } from '@concord/backend-core';
import { compareBytes } from '../checks/compare.ts';
import { type CaseContext, type ConformanceCase, expectThat, UnsupportedCall } from '../harness/case.ts';
import { behaviour } from '../harness/case-text.ts';
import { expectRejects, expectThrows } from '../harness/expect-error.ts';

type Record = NonNullable<ComputeBackend['record']>;

const INVALID = { code: 'INVALID_ARGUMENT' } as const;

function recordingCase(
  id: string,
  does: string,
  run: (context: CaseContext & { readonly record: Record }) => Promise<void>,
  op: 'binary' | 'gemm' = 'binary',
): ConformanceCase {
  return {
    id: `memory/recording: ${id}`,
    op: 'memory',
    params: {},
    needs: { op, dtype: 'f32' },
    about: behaviour(does, 'A replay is what the calls themselves would be, made at its place.'),
    run: async (context) => {
      const { backend } = context;
      if (backend.record === undefined) throw new UnsupportedCall('the backend has no record');
      await run({ ...context, record: (...given) => (backend.record as Record)(...given) });
    },
  };
}

const N = 96;
const BYTES = 4 * N;

const numbers = (of: (i: number) => number): Float32Array => Float32Array.from({ length: N }, (_, i) => of(i));

const filled = (x: number): Float32Array => new Float32Array(N).fill(x);

/** Allocations of {@link BYTES} that are freed at the end. */
async function withMemory(
  backend: ComputeBackend,
  count: number,
  use: (pointers: readonly DevicePtr[]) => Promise<void>,
): Promise<void> {
  const pointers = Array.from({ length: count }, () => backend.alloc(BYTES));
  try {
    await use(pointers);
  } finally {
    for (const ptr of pointers) backend.free(ptr);
  }
}

function expectSame(what: string, got: Float32Array, want: Float32Array): void {
  compareBytes(what, new Uint8Array(got.buffer), new Uint8Array(want.buffer));
}

async function expectNumbers(what: string, backend: ComputeBackend, ptr: DevicePtr, want: Float32Array): Promise<void> {
  expectSame(what, await download(backend, ptr, want.length), want);
}

/** Work that is recorded and replayed. */
export const recordingCases: readonly ConformanceCase[] = [
  recordingCase(
    'a chain of ops, inputs written between replays',
    'Records two sums with memory in between that is allocated and freed in the recording, and replays them 20 times with other inputs, some of them before the last result is read.',
    async ({ backend, record }) => {
      await withMemory(backend, 3, async ([a, b, out]) => {
        const step = (): void => {
          const between = backend.alloc(BYTES);
          backend.binary({ op: 'add', n: N, a: a as DevicePtr, b: b as DevicePtr, output: between });
          backend.binary({ op: 'mul', n: N, a: between, b: between, output: out as DevicePtr });
          backend.free(between);
        };
        const write = (turn: number): void => {
          backend.copyHtod(
            a as DevicePtr,
            numbers((i) => turn + i),
          );
          backend.copyHtod(
            b as DevicePtr,
            numbers((i) => 2 * turn - i),
          );
        };
        write(0);
        const recording = record(step);
        const reads: Promise<Float32Array>[] = [];
        for (let turn = 0; turn < 20; turn++) {
          if (turn > 0) {
            write(turn);
            recording.replay();
          }
          reads.push(download(backend, out as DevicePtr, N));
          if (turn % 3 === 0) await reads.at(-1);
        }
        for (const [turn, read] of reads.entries()) {
          expectSame(`result of replay ${turn}`, await read, filled((3 * turn) ** 2));
        }
        recording.dispose();
      });
    },
  ),
  recordingCase(
    'what is run anew, in its place',
    'Records a sum, a product of it that is run anew with another place and number each time, and a sum of that; replays it.',
    async ({ backend, record }) => {
      const rows = backend.alloc(5 * BYTES);
      await withMemory(backend, 3, async ([a, b, last]) => {
        const [x, y, z] = [a as DevicePtr, b as DevicePtr, last as DevicePtr];
        backend.copyHtod(x, filled(1));
        let turn = 0;
        const recording = record((anew) => {
          backend.binary({ op: 'add', n: N, a: x, b: x, output: y });
          anew(() => {
            const row = offsetPtr(rows, turn * BYTES);
            backend.binary({ op: 'add', n: N, a: y, b: y, output: row });
            backend.copyDtod(z, row, BYTES);
            turn++;
          });
          backend.binary({ op: 'add', n: N, a: z, b: x, output: x });
        });
        for (let replay = 1; replay < 5; replay++) recording.replay();
        recording.dispose();
        // x is 1, then 4 x + x each time.
        for (let row = 0; row < 5; row++) {
          await expectNumbers(`row ${row}`, backend, offsetPtr(rows, row * BYTES), filled(4 * 5 ** row));
        }
        await expectNumbers('x', backend, x, filled(5 ** 5));
      });
      backend.free(rows);
    },
  ),
  recordingCase(
    'copies and fills, with the bytes of their time',
    'Records a fill, a copy to the device whose bytes the caller changes later, and a copy within it; overwrites all and replays.',
    async ({ backend, record }) => {
      await withMemory(backend, 3, async ([a, b, c]) => {
        const [x, y, z] = [a as DevicePtr, b as DevicePtr, c as DevicePtr];
        const bytes = numbers((i) => i);
        const recording = record(() => {
          backend.fill(x, 0, BYTES);
          backend.copyHtod(y, bytes);
          backend.copyDtod(z, y, BYTES);
        });
        bytes.fill(-1);
        for (const ptr of [x, y, z]) backend.fill(ptr, 0x55, BYTES);
        recording.replay();
        recording.dispose();
        await expectNumbers('x', backend, x, filled(0));
        await expectNumbers(
          'z',
          backend,
          z,
          numbers((i) => i),
        );
      });
    },
  ),
  recordingCase(
    'products with memory between replays that is not theirs',
    'Records two products, the second of the first, then allocates and fills memory of many sizes, replays three times, and looks whether any of that was written.',
    async ({ backend, record }) => {
      const [m, n, k] = [200, 72, 96];
      const [a, b] = [
        upload(backend, new Float32Array(m * k).fill(1)),
        upload(backend, new Float32Array(k * n).fill(2)),
      ];
      const [c, d] = [backend.alloc(4 * m * n), backend.alloc(4 * k * n)];
      const recording = record(() => {
        backend.gemm({ m, n, k, a, b, c });
        backend.gemm({ m: k, n, k: m, a, transA: 'T', b: c, c: d });
      });
      const sizes = [64, 1000, 4 * k * n, 4 * m * k, 4 * m * n, 200_000];
      const others = sizes.map((bytes) => ({ bytes, ptr: backend.alloc(bytes) }));
      for (const { ptr, bytes } of others) backend.fill(ptr, 0x11, bytes);
      for (let turn = 0; turn < 3; turn++) {
        backend.fill(c, 0, 4 * m * n);
        recording.replay();
      }
      await expectNumbers('the second product', backend, d, new Float32Array(k * n).fill(2 * k * m));
      for (const { ptr, bytes } of others) {
        const got = new Uint8Array(bytes);
        await backend.copyDtoh(got, ptr);
        compareBytes(`${bytes} bytes beside it`, got, new Uint8Array(bytes).fill(0x11));
      }
      recording.dispose();
      for (const ptr of [a, b, c, d, ...others.map((other) => other.ptr)]) backend.free(ptr);
    },
    'gemm',
  ),
  recordingCase(
    'memory that is freed in it stays its own',
    'Allocates and frees memory in a recording, then allocates as much outside, fills it, replays, and looks whether it was written.',
    async ({ backend, record }) => {
      await withMemory(backend, 2, async ([a, out]) => {
        backend.copyHtod(a as DevicePtr, filled(3));
        const before = backend.memory();
        const recording = record(() => {
          const own = backend.alloc(BYTES);
          backend.binary({ op: 'add', n: N, a: a as DevicePtr, b: a as DevicePtr, output: own });
          backend.binary({ op: 'add', n: N, a: own, b: own, output: out as DevicePtr });
          backend.free(own);
        });
        const others = Array.from({ length: 8 }, () => backend.alloc(BYTES));
        for (const other of others) backend.fill(other, 0, BYTES);
        recording.replay();
        await expectNumbers('out', backend, out as DevicePtr, filled(12));
        for (const [index, other] of others.entries()) {
          await expectNumbers(`allocation ${index} after the recording`, backend, other, filled(0));
        }
        for (const other of others) backend.free(other);
        recording.dispose();
        const { inUseBytes, liveAllocations } = backend.memory();
        const isBack = inUseBytes === before.inUseBytes && liveAllocations === before.liveAllocations;
        expectThat(isBack, `${inUseBytes} bytes are in use after it, ${before.inUseBytes} were before`);
      });
    },
  ),
  recordingCase(
    'of two, one is disposed',
    'Records two products, disposes the first recording, fills memory of many sizes, and replays the second.',
    async ({ backend, record }) => {
      const [m, n, k] = [200, 72, 96];
      const [a, b] = [
        upload(backend, new Float32Array(m * k).fill(1)),
        upload(backend, new Float32Array(k * n).fill(2)),
      ];
      const [c, d] = [backend.alloc(4 * m * n), backend.alloc(4 * m * n)];
      const first = record(() => backend.gemm({ m, n, k, a, b, c }));
      const second = record(() => backend.gemm({ m, n, k, alpha: 3, a, b, c: d }));
      first.dispose();
      const others = [64, 1000, 4 * k * n, 4 * m * k, 4 * m * n].map((bytes) => ({ bytes, ptr: backend.alloc(bytes) }));
      for (const { ptr, bytes } of others) backend.fill(ptr, 0x11, bytes);
      backend.fill(d, 0, 4 * m * n);
      second.replay();
      await expectNumbers('the second product', backend, d, new Float32Array(m * n).fill(6 * k));
      for (const { ptr, bytes } of others) {
        const got = new Uint8Array(bytes);
        await backend.copyDtoh(got, ptr);
        compareBytes(`${bytes} bytes beside it`, got, new Uint8Array(bytes).fill(0x11));
      }
      second.dispose();
      for (const ptr of [a, b, c, d, ...others.map((other) => other.ptr)]) backend.free(ptr);
    },
    'gemm',
  ),
  recordingCase(
    'other memory in slots, in turns',
    'Records a sum of a slot, a copy of it and a product of the copy into another slot, and replays it with memory for either, both and neither, at odd places too, some of the results read later.',
    async ({ backend, record }) => {
      const rows = 6;
      const memory = Array.from({ length: 4 }, () => backend.alloc(rows * BYTES + 64));
      const [given, results] = memory as [DevicePtr, DevicePtr];
      const row = (ptr: DevicePtr, index: number): DevicePtr => offsetPtr(ptr, index * BYTES + 4 * index);
      for (const ptr of memory) {
        for (let index = 0; index < rows; index++) backend.copyHtod(row(ptr, index), filled(index + 1));
      }
      await withMemory(backend, 4, async ([a, b, c, out]) => {
        const [x, y, z, w] = [a as DevicePtr, b as DevicePtr, c as DevicePtr, out as DevicePtr];
        backend.copyHtod(x, filled(10));
        backend.copyHtod(y, filled(100));
        const recording = record(
          () => {
            backend.binary({ op: 'add', n: N, a: x, b: y, output: z });
            backend.copyDtod(w, z, BYTES);
            backend.binary({ op: 'mul', n: N, a: w, b: x, output: w });
          },
          { slots: { x: { ptr: x, bytes: BYTES }, w: { ptr: w, bytes: BYTES } } },
        );
        await expectNumbers('what is recorded', backend, w, filled(1100));
        const reads: [string, Promise<Float32Array>, number][] = [];
        for (let turn = 0; turn < 3 * rows; turn++) {
          const index = turn % rows;
          const isGiven = turn % 2 === 0;
          const isStored = turn % 3 !== 0;
          const target = isStored ? row(results, index) : w;
          recording.replay({ ...(isGiven && { x: row(given, index) }), ...(isStored && { w: target }) });
          const value = isGiven ? index + 1 : 10;
          reads.push([`replay ${turn}`, download(backend, target, N), value * (value + 100)]);
          if (turn % 4 === 0) await reads.at(-1)?.[1];
        }
        for (const [what, read, want] of reads) expectSame(what, await read, filled(want));
        for (let index = 0; index < rows; index++) {
          await expectNumbers(`row ${index} that was given`, backend, row(given, index), filled(index + 1));
        }
        recording.dispose();
      });
      for (const ptr of memory) backend.free(ptr);
    },
  ),
  recordingCase(
    'memory that cannot take the place of a slot',
    'Replays a sum with memory that is freed, too short, not aligned, or what the sum writes, and records with slots that are not live, overlap, are not used, or hold a part of an operand. Nothing is written.',
    async ({ backend, record }) => {
      await withMemory(backend, 4, async ([a, b, c, d]) => {
        const [x, y, out, other] = [a as DevicePtr, b as DevicePtr, c as DevicePtr, d as DevicePtr];
        for (const ptr of [x, y]) backend.copyHtod(ptr, filled(1));
        const freed = backend.alloc(BYTES);
        backend.free(freed);
        const work = (): void => backend.binary({ op: 'add', n: N, a: x, b: y, output: out });
        const slot = (ptr: DevicePtr, bytes = BYTES): { ptr: DevicePtr; bytes: number } => ({ ptr, bytes });
        const recording = record(work, { slots: { x: slot(x), out: slot(out) } });
        backend.copyHtod(out, filled(7));
        backend.copyHtod(other, filled(7));
        const replays: Readonly<globalThis.Record<string, globalThis.Record<string, DevicePtr>>> = {
          'memory that was freed': { x: freed },
          'memory that is too short': { x: offsetPtr(other, 4) },
          'memory that is not aligned': { out: offsetPtr(other, 2) },
          'memory that the recording writes': { x: out },
          'memory that the recording reads': { out: y },
          'memory of two slots': { x: other, out: other },
          'a name of no slot': { input: other },
        };
        for (const [what, given] of Object.entries(replays)) {
          expectThrows(what, INVALID, () => recording.replay(given));
        }
        const slots = {
          'a slot that is not live': { x: slot(freed) },
          'slots that overlap': { x: slot(x), y: slot(offsetPtr(x, 4), 8) },
          'a slot that nothing uses': { x: slot(other) },
          'a slot that an operand is partly in': { x: slot(x, 8) },
        };
        await expectNumbers('the result', backend, out, filled(7));
        await expectNumbers('other memory', backend, other, filled(7));
        for (const [what, given] of Object.entries(slots)) {
          expectThrows(what, INVALID, () => record(work, { slots: given }));
        }
        recording.replay({ out: other });
        await expectNumbers('other memory that is given', backend, other, filled(2));
        recording.dispose();
      });
    },
  ),
  recordingCase(
    'what is refused',
    'Waits, records and returns a promise in a recording; replays one that was disposed, or whose memory was freed; throws in one. Then all is as before.',
    async ({ backend, record }) => {
      const waits: Promise<void>[] = [];
      const empty = record(() => undefined);
      const done = record(() => {
        waits.push(expectRejects('synchronize', INVALID, () => backend.synchronize()));
        waits.push(expectRejects('prepare', INVALID, () => backend.prepare([])));
        expectThrows('record in a recording', INVALID, () => record(() => undefined));
        expectThrows('replay in a recording', INVALID, () => empty.replay());
      });
      await Promise.all(waits);
      empty.dispose();
      done.dispose();
      done.dispose();
      expectThrows('replay after dispose', INVALID, () => done.replay());
      const late: () => unknown = async () => undefined;
      expectThrows('a promise', INVALID, () => record(late));
      expectThrows('no function', INVALID, () => record(undefined as never));
      const [kept, freed] = [backend.alloc(BYTES), backend.alloc(BYTES)];
      const stale = record(() => backend.binary({ op: 'add', n: N, a: freed, b: freed, output: kept }));
      backend.free(freed);
      expectThrows('replay of freed memory', INVALID, () => stale.replay());
      stale.dispose();
      const own = upload(backend, filled(7));
      await expectNumbers('memory after it', backend, own, filled(7));
      backend.free(own);
      backend.free(kept);
    },
  ),
];

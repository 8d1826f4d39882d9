import { type ComputeBackend, type DevicePtr, download, offsetPtr, upload } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { compareBytes } from '../checks/compare.ts';
import { type CaseContext, caseOf, type ConformanceCase, expectThat, UnsupportedCall } from '../harness/case.ts';
import { expectUnsupported } from '../run/plan.ts';
import { expectRejects, expectThrows } from '../harness/planned-call.ts';

type Record = NonNullable<ComputeBackend['record']>;

export const INVALID = { code: 'INVALID_ARGUMENT' } as const;

export function recordingCase(
  id: string,
  run: (context: CaseContext & { readonly record: Record }) => Promise<void>,
  op: 'binary' | 'gemm' = 'binary',
): ConformanceCase {
  const recorded: ConformanceCase['run'] = async (context) => {
    const { backend } = context;
    if (backend.record === undefined) throw new UnsupportedCall('the backend has no record');
    await run({ ...context, record: (...given) => (backend.record as Record)(...given) });
  };
  return caseOf(`memory/recording: ${id}`, 'memory', recorded, { op, dtype: 'f32' });
}

const append = defineKernel(
  'append at',
  { inputs: { x: 'f32', at: 'u32' }, outputs: { rows: { type: 'f32', access: 'scatter', rank: 2, mode: 'set' } } },
  ({ x, at }, k) => ({ rows: k.scatter(x, [at, k.index(-1)]) }),
);
const next = defineKernel('next', { inputs: { n: 'u32' } }, ({ n }, k) => ({ n1: k.add(n, 1) }));

export const N = 96;
export const BYTES: number = 4 * N;

const numbers = (of: (i: number) => number): Float32Array => Float32Array.from({ length: N }, (_, i) => of(i));

export const filled = (x: number): Float32Array => new Float32Array(N).fill(x);

/** Allocations of {@link BYTES} that are freed at the end. */
export async function withMemory(
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

export function expectSame(what: string, got: Float32Array, want: Float32Array): void {
  compareBytes(what, new Uint8Array(got.buffer), new Uint8Array(want.buffer));
}

export async function expectNumbers(
  what: string,
  backend: ComputeBackend,
  ptr: DevicePtr,
  want: Float32Array,
): Promise<void> {
  expectSame(what, await download(backend, ptr, want.length), want);
}

type Others = readonly { readonly bytes: number; readonly ptr: DevicePtr }[];

/** Memory beside that of a recording, for {@link expectFilled}. */
function filledBeside(backend: ComputeBackend, sizes: readonly number[]): Others {
  const others = sizes.map((bytes) => ({ bytes, ptr: backend.alloc(bytes) }));
  for (const { ptr, bytes } of others) backend.fill(ptr, 0x11, bytes);
  return others;
}

async function expectFilled(backend: ComputeBackend, others: Others): Promise<void> {
  for (const { ptr, bytes } of others) {
    const got = new Uint8Array(bytes);
    await backend.copyDtoh(got, ptr);
    compareBytes(`${bytes} bytes beside it`, got, new Uint8Array(bytes).fill(0x11));
  }
}

/** Work that is recorded and replayed. */
export const recordingCases: readonly ConformanceCase[] = [
  recordingCase('a chain of ops, inputs written between replays', async ({ backend, record }) => {
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
  }),
  recordingCase('a position that is counted in memory', async ({ backend, record }) => {
    const rows = backend.alloc(6 * BYTES);
    await withMemory(backend, 3, async ([a, b, count]) => {
      const [x, y, at] = [a as DevicePtr, b as DevicePtr, count as DevicePtr];
      const appended = { shape: [N], inputs: { x: {}, at: { strides: [0] } }, outputs: { rows: { shape: [6, N] } } };
      const support = backend.supports('run', { kernel: append, ...appended });
      const call = (): void =>
        backend.run(append, {
          shape: [N],
          inputs: { x: y, at: { ptr: at, strides: [0] } },
          outputs: { rows: { ptr: rows, shape: [6, N] } },
        });
      if (!support.ok) expectUnsupported('a kernel that writes by index', support.reason, call);
      backend.copyHtod(x, filled(1));
      backend.fill(at, 0, 4);
      backend.fill(rows, 0, 6 * BYTES);
      const recording = record(() => {
        backend.binary({ op: 'add', n: N, a: x, b: x, output: y });
        call();
        backend.run(next, { shape: [1], inputs: { n: at }, outputs: { n1: at } });
        backend.binary({ op: 'add', n: N, a: y, b: x, output: x });
      });
      for (let replay = 1; replay < 5; replay++) recording.replay();
      recording.dispose();
      // x is 1, then 2 x + x each time; no step wrote the last row.
      for (let row = 0; row < 6; row++) {
        const want = filled(row < 5 ? 2 * 3 ** row : 0);
        await expectNumbers(`row ${row}`, backend, offsetPtr(rows, row * BYTES), want);
      }
      await expectNumbers('x', backend, x, filled(3 ** 5));
    });
    backend.free(rows);
  }),
  recordingCase('temporary memory of a recording, one after the other', async ({ backend, record }) => {
    await withMemory(backend, 2, async ([a, out]) => {
      const [x, y] = [a as DevicePtr, out as DevicePtr];
      backend.copyHtod(x, filled(1));
      backend.fill(y, 0, BYTES);
      const recording = record(() => {
        const first = backend.alloc(BYTES);
        backend.binary({ op: 'add', n: N, a: x, b: x, output: first });
        for (let turn = 0; turn < 4; turn++) {
          const own = backend.alloc(BYTES);
          backend.binary({ op: 'add', n: N, a: first, b: y, output: own });
          backend.binary({ op: 'add', n: N, a: own, b: x, output: y });
          backend.free(own);
        }
        backend.free(first);
      });
      await expectNumbers('what is recorded', backend, y, filled(12));
      backend.copyHtod(x, filled(2));
      recording.replay();
      recording.dispose();
      await expectNumbers('what is replayed', backend, y, filled(12 + 24));
    });
  }),
  recordingCase('copies and fills, with the bytes of their time', async ({ backend, record }) => {
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
  }),
  recordingCase(
    'products with memory between replays that is not theirs',
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
      const others = filledBeside(backend, sizes);
      for (let turn = 0; turn < 3; turn++) {
        backend.fill(c, 0, 4 * m * n);
        recording.replay();
      }
      await expectNumbers('the second product', backend, d, new Float32Array(k * n).fill(2 * k * m));
      await expectFilled(backend, others);
      recording.dispose();
      for (const ptr of [a, b, c, d, ...others.map((other) => other.ptr)]) backend.free(ptr);
    },
    'gemm',
  ),
  recordingCase('memory that is freed in it stays its own', async ({ backend, record }) => {
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
  }),
  recordingCase(
    'of two, one is disposed',
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
      const others = filledBeside(backend, [64, 1000, 4 * k * n, 4 * m * k, 4 * m * n]);
      backend.fill(d, 0, 4 * m * n);
      second.replay();
      await expectNumbers('the second product', backend, d, new Float32Array(m * n).fill(6 * k));
      await expectFilled(backend, others);
      second.dispose();
      for (const ptr of [a, b, c, d, ...others.map((other) => other.ptr)]) backend.free(ptr);
    },
    'gemm',
  ),
  recordingCase('what is refused', async ({ backend, record }) => {
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
  }),
];

import { describe, expect, it } from 'vitest';
import { expectError, expectInvalid } from '../../test/expect-error.ts';
import { MemoryBackend } from '../../test/memory-backend.ts';
import { BackendError, type DevicePtr, offsetPtr } from '../index.ts';

const N = 4;
const BYTES = 4 * N;

async function opened() {
  const backend = await MemoryBackend.open();
  const pointers = Array.from({ length: 5 }, () => backend.alloc(4 * BYTES));
  const [a, b, out, other, result] = pointers as [DevicePtr, DevicePtr, DevicePtr, DevicePtr, DevicePtr];
  const add = (x: DevicePtr, y: DevicePtr, output: DevicePtr): void =>
    backend.binary({ op: 'add', n: N, a: x, b: y, output });
  const write = (ptr: DevicePtr, value: number): void => backend.copyHtod(ptr, new Float32Array(4 * N).fill(value));
  const first = async (ptr: DevicePtr): Promise<number> => {
    const got = new Float32Array(1);
    await backend.copyDtoh(got, ptr);
    return got[0] as number;
  };
  for (const [index, ptr] of pointers.entries()) write(ptr, 10 ** index);
  return { backend, a, b, out, other, result, add, write, first };
}

const slot = (ptr: DevicePtr, bytes = BYTES) => ({ ptr, bytes });

describe('slots of a recording', () => {
  it('have the memory of a replay, all of what lies in them, and of the next replay their own again', async () => {
    const { backend, a, b, out, other, result, add, write, first } = await opened();
    const recording = backend.record(
      () => {
        add(a, b, out);
        backend.copyDtod(offsetPtr(out, BYTES), out, BYTES);
      },
      { slots: { x: slot(a), y: slot(out, 2 * BYTES) } },
    );
    expect(await first(out)).toBe(11);
    write(out, 0);
    recording.replay({ x: other });
    expect(await first(out)).toBe(1010);
    recording.replay({ y: offsetPtr(result, BYTES) });
    expect(await first(result)).toBe(10_000);
    expect(await first(offsetPtr(result, BYTES))).toBe(11);
    expect(await first(offsetPtr(result, 2 * BYTES))).toBe(11);
    write(a, 2);
    recording.replay();
    expect(await first(offsetPtr(out, BYTES))).toBe(12);
    recording.replay({});
    recording.dispose();
    expectInvalid(() => recording.replay({ x: other }), 'the recording was disposed');
  });

  it('take turns among more memory than is kept', async () => {
    const { backend, a, b, out, add, write, first } = await opened();
    const recording = backend.record(() => add(a, b, out), { slots: { x: slot(a) } });
    const places = Array.from({ length: 20 }, (_, index) => {
      const ptr = backend.alloc(4 * BYTES);
      write(ptr, index);
      return ptr;
    });
    for (let turn = 0; turn < 60; turn++) {
      recording.replay({ x: places[turn % 20] as DevicePtr });
      expect(await first(out)).toBe((turn % 20) + 10);
    }
  });

  it('refuse memory that cannot take their place, before anything is queued', async () => {
    const { backend, a, b, out, other, add } = await opened();
    const recording = backend.record(() => add(a, b, out), { slots: { x: slot(a), sum: slot(out) } });
    const queued = backend.hooks.length;
    const freed = backend.alloc(BYTES);
    backend.free(freed);
    const refused: [Record<string, unknown>, string | RegExp][] = [
      [{ z: other }, 'the recording has no field z; it has x, sum'],
      [{ x: 'a' }, 'x must be a DevicePtr, got "a"'],
      [{ x: other + 2 }, /^x must be aligned to 4 bytes, got address /],
      [new Map([['x', other]]) as never, 'replay takes an object of pointers by names of slots, got Map'],
      [{ x: freed }, `unknown handle ${freed}, already freed`],
      [{ x: other + 4 * BYTES - 4 }, 'x is out of bounds: 16 bytes at offset 60 of its allocation of 64 bytes'],
      [{ x: out }, 'x overlaps sum'],
      [{ sum: b }, 'sum overlaps memory that the recording uses'],
      [{ x: other, sum: other + 8 }, 'x overlaps sum'],
    ];
    for (const [given, detail] of refused) expectInvalid(() => recording.replay(given as never), detail);
    expectInvalid(() => recording.replay(null as never), 'replay takes an object, got null');
    expect(backend.hooks.slice(queued)).toEqual(['alloc', 'free']);
    // What is only read may be one memory.
    recording.replay({ x: b });
  });

  it('are live, apart from each other, used, and have whole operands', async () => {
    const { backend, a, b, out, other, add } = await opened();
    const work = (): void => add(a, b, out);
    const refused: [Record<string, unknown>, string | RegExp][] = [
      [{ x: a }, /^slots.x must be \{ ptr, bytes \}, got /],
      [{ x: { ptr: a } }, 'slots.x.bytes must be a positive safe integer, got undefined'],
      [{ x: { ptr: a, bytes: BYTES, size: 4 } }, /^slots.x has no field size; /],
      [{ x: slot(a, 5 * BYTES) }, /^slots.x is out of bounds: /],
      [{ x: slot(a), y: slot(offsetPtr(a, 8)) }, 'slots.y overlaps slots.x'],
      [{ x: slot(other) }, 'nothing that was recorded uses slots.x'],
      [{ x: slot(offsetPtr(a, 4)) }, 'an operand of binary is partly in slots.x, of 16 bytes'],
      [{ x: slot(a, 8) }, 'an operand of binary is partly in slots.x, of 8 bytes'],
    ];
    for (const [slots, detail] of refused) {
      expectInvalid(() => backend.record(work, { slots: slots as never }), detail);
    }
    expectInvalid(() => backend.record(work, { slot: {} } as never), /^record has no field slot; did you mean slots\?/);
    backend.record(work).replay();
  });

  it('outlive their own memory, and forget that of a replay which is freed', async () => {
    const { backend, a, b, out, other, add, first } = await opened();
    const recording = backend.record(() => add(a, b, out), { slots: { x: slot(a) } });
    recording.replay({ x: other });
    backend.free(a);
    const error = expectInvalid(
      () => recording.replay(),
      'the recording uses memory that was freed: an allocation of 64 bytes',
    );
    expect(error.hint).toBe('give x, or record again');
    recording.replay({ x: other });
    expect(await first(out)).toBe(1010);
    backend.free(other);
    expectInvalid(() => recording.replay({ x: other }), /^unknown handle /);
    backend.free(b);
    const last = backend.alloc(BYTES);
    expectInvalid(() => recording.replay({ x: last }), /^the recording uses memory that was freed/);
  });

  it('are read once, and nothing is queued when that ends the recording', async () => {
    const { backend, a, b, out, other, add } = await opened();
    const recording = backend.record(() => add(a, b, out), { slots: { x: slot(a) } });
    let reads = 0;
    recording.replay({
      get x() {
        reads++;
        return other;
      },
    });
    expect(reads).toBe(1);
    const queued = backend.hooks.filter((hook) => hook === 'run').length;
    const ending = {
      get x() {
        recording.dispose();
        return other;
      },
    };
    expectInvalid(() => recording.replay(ending), 'the recording was disposed');
    expect(backend.hooks.filter((hook) => hook === 'run')).toHaveLength(queued);
  });

  it('are where a call is refused before it is queued, and what has nothing to do uses them too', async () => {
    const { backend, a, b, out, add, first } = await opened();
    const recording = backend.record(
      () => {
        expectInvalid(() => add(a, b, out), 'an operand of binary is partly in slots.x, of 8 bytes');
        backend.gemm({ m: 1, n: 1, k: 2, alpha: 0, a, b, c: out });
      },
      { slots: { x: slot(a, 8) } },
    );
    expect(await first(out)).toBe(100);
    expectInvalid(() => recording.replay({ x: out }), 'x overlaps memory that the recording uses');
    recording.replay({ x: b });
  });

  it('take what is aligned to the elements in them', async () => {
    const { backend, a, b, out, other } = await opened();
    const work = (): void => backend.gemm({ m: 2, n: 2, k: 2, dtype: 'f16', a, b, c: out });
    const halves = backend.record(work, { slots: { x: slot(a, 8) } });
    halves.replay({ x: offsetPtr(other, 2) });
    expectInvalid(() => halves.replay({ x: offsetPtr(other, 1) }), /^x must be aligned to 2 bytes, got address /);
    const odd = backend.record(() => backend.binary({ op: 'add', n: 1, a: offsetPtr(a, 4), b, output: out }), {
      slots: { x: slot(offsetPtr(a, 2), 8) },
    });
    odd.replay({ x: offsetPtr(other, 6) });
    expectInvalid(() => odd.replay({ x: other }), /^x must be 2 bytes after a multiple of 4, got address /);
    const bytes = backend.record(() => backend.copyDtod(out, a, 5), { slots: { x: slot(a, 5) } });
    bytes.replay({ x: offsetPtr(other, 3) });
  });

  it('may have names that every object has', async () => {
    const { backend, a, b, out, other, add, first } = await opened();
    const slots: Record<string, { ptr: DevicePtr; bytes: number }> = { constructor: slot(a), toString: slot(b) };
    const recording = backend.record(() => add(a, b, out), { slots });
    recording.replay(Object.fromEntries([['constructor', other]]));
    expect(await first(out)).toBe(1010);
  });

  it('give back what was prepared before a part that does not fit, and what can never run again', async () => {
    const { backend, a, b, out, other, add } = await opened();
    const made: unknown[] = [];
    const released: unknown[] = [];
    let failing = Infinity;
    (backend as unknown as { doSequence: (calls: unknown) => unknown }).doSequence = () => {
      if (made.length === failing) throw new BackendError('OUT_OF_MEMORY', 'no scratch');
      const sequence = { run: () => undefined, release: () => released.push(sequence) };
      made.push(sequence);
      return sequence;
    };
    const work = (): void => {
      add(a, b, out);
      backend.copyDtod(offsetPtr(out, BYTES), out, BYTES);
      add(a, b, out);
    };
    const recording = backend.record(work, { slots: { x: slot(a), y: slot(b) } });
    recording.replay({ x: other });
    expect([made.length, released.length]).toEqual([4, 0]);
    // The second of two cannot be made: all others go, and it is tried once more.
    failing = 5;
    expectError(() => recording.replay({ y: other }), 'OUT_OF_MEMORY', 'no scratch');
    expect([made.length, released.length]).toEqual([5, 5]);
    failing = Infinity;
    recording.replay({ x: other });
    backend.free(b);
    expect([made.length, released.length]).toEqual([7, 7]);
    recording.dispose();
  });
});

import { type ComputeBackend, type DevicePtr, download } from '@concord/backend-core';
import { compareBytes } from '../checks/compare.ts';
import { caseOf, type ConformanceCase } from '../harness/case.ts';
import type { Random } from '../harness/random.ts';

/** This many turns keep more submits in flight than any queue is deep. */
const TURNS = 300;
/** Sizes that land in one class of a pool, in neighbouring ones, and in one of large allocations. */
const SIZES = [4, 252, 256, 260, 1000, 1024, 4096, 5000, 70_000];

const lifetimeCase = (what: string, run: ConformanceCase['run'], op?: 'unary'): ConformanceCase =>
  caseOf(`memory/in flight: ${what}`, 'memory', run, op && { op, dtype: 'f32' });

/** Floats that tell one turn from every other. */
const numbers = (turn: number, bytes: number): Float32Array =>
  Float32Array.from({ length: Math.ceil(bytes / 4) }, (_, i) => turn * 1000 + (i % 997));

const negated = (values: Float32Array): Float32Array => values.map((x) => -x);

const bytesOf = (values: Float32Array): Uint8Array => new Uint8Array(values.buffer);

/** Results that come later, each with what it has to be. */
class Expected {
  readonly #pending: { readonly what: string; readonly read: Promise<Float32Array>; readonly want: Float32Array }[] =
    [];

  /** Begins to read; nothing waits for it. */
  read(backend: ComputeBackend, what: string, ptr: DevicePtr, want: Float32Array): void {
    const read = download(backend, ptr, want.length);
    // Heard of in `check`; until then it must not count as unheard.
    read.catch(() => undefined);
    this.#pending.push({ what, read, want });
  }

  async check(): Promise<void> {
    for (const { what, read, want } of this.#pending) compareBytes(what, bytesOf(await read), bytesOf(want));
  }
}

/** Some turns submit what is queued, as a program that keeps its device busy does. */
function sometimesFlush(backend: ComputeBackend, random: Random): void {
  if (random.chance(0.3)) backend.flush();
}

/** Memory, copies and staging while much work is under way. */
export const lifetimeCases: readonly ConformanceCase[] = [
  lifetimeCase(
    'allocate, compute, read and free',
    async ({ backend, random }) => {
      const expected = new Expected();
      for (let turn = 0; turn < TURNS; turn++) {
        const values = numbers(turn, random.pick(SIZES));
        const [input, output] = [backend.alloc(values.byteLength), backend.alloc(values.byteLength)];
        backend.copyHtod(input, values);
        backend.unary({ op: 'neg', n: values.length, input, output });
        backend.free(input);
        sometimesFlush(backend, random);
        expected.read(backend, `result of turn ${turn} (${values.byteLength} bytes)`, output, negated(values));
        backend.free(output);
      }
      await expected.check();
    },
    'unary',
  ),
  lifetimeCase(
    'results kept while their inputs are freed and reused',
    async ({ backend, random }) => {
      const [expected, outputs] = [new Expected(), [] as DevicePtr[]];
      for (let turn = 0; turn < TURNS; turn++) {
        const values = numbers(turn, 1024);
        const input = backend.alloc(1024);
        const output = backend.alloc(1024);
        outputs.push(output);
        backend.copyHtod(input, values);
        backend.unary({ op: 'neg', n: 256, input, output });
        backend.free(input);
        // The next owner of the memory writes to it immediately.
        const next = backend.alloc(1024);
        backend.fill(next, 0xee, 1024);
        backend.free(next);
        sometimesFlush(backend, random);
      }
      for (const [turn, output] of outputs.entries()) {
        expected.read(backend, `result of turn ${turn}`, output, negated(numbers(turn, 1024)));
      }
      await expected.check();
      for (const output of outputs) backend.free(output);
    },
    'unary',
  ),
  lifetimeCase('live allocations stay apart', async ({ backend, random }) => {
    const live: { readonly ptr: DevicePtr; readonly turn: number; readonly values: Float32Array }[] = [];
    for (let turn = 0; turn < 3 * TURNS; turn++) {
      if (live.length > 40 || (live.length > 0 && random.chance(0.4))) {
        const [freed] = live.splice(random.integer(0, live.length - 1), 1);
        if (freed !== undefined) backend.free(freed.ptr);
      } else {
        const values = numbers(turn, random.pick(SIZES));
        const ptr = backend.alloc(values.byteLength);
        backend.copyHtod(ptr, values);
        live.push({ ptr, turn, values });
      }
      sometimesFlush(backend, random);
    }
    const expected = new Expected();
    for (const { ptr, turn, values } of live) {
      expected.read(backend, `allocation of turn ${turn} (${values.byteLength} bytes)`, ptr, values);
    }
    await expected.check();
    for (const { ptr } of live) backend.free(ptr);
  }),
  lifetimeCase('writes one after the other through one source', async ({ backend, random }) => {
    const bytes = 4096;
    const [source, target] = [new Float32Array(bytes / 4), backend.alloc(bytes)];
    const kept = Array.from({ length: TURNS }, () => backend.alloc(bytes));
    const expected = new Expected();
    for (const [turn, ptr] of kept.entries()) {
      source.set(numbers(turn, bytes));
      backend.copyHtod(target, source);
      source.fill(-1);
      backend.copyDtod(ptr, target, bytes);
      sometimesFlush(backend, random);
    }
    for (const [turn, ptr] of kept.entries()) {
      expected.read(backend, `copy of turn ${turn}`, ptr, numbers(turn, bytes));
    }
    await expected.check();
    for (const ptr of [target, ...kept]) backend.free(ptr);
  }),
  lifetimeCase('reads of one place while it changes', async ({ backend, random }) => {
    const target = backend.alloc(Math.max(...SIZES));
    const expected = new Expected();
    for (let turn = 0; turn < TURNS; turn++) {
      const values = numbers(turn, random.pick(SIZES));
      backend.copyHtod(target, values);
      expected.read(backend, `read of turn ${turn} (${values.byteLength} bytes)`, target, values);
    }
    await expected.check();
    backend.free(target);
  }),
  lifetimeCase(
    'reads and waits by turns',
    async ({ backend, random }) => {
      const bytes = 1024;
      const [input, output] = [backend.alloc(bytes), backend.alloc(bytes)];
      let expected = new Expected();
      for (let turn = 0; turn < TURNS; turn++) {
        const values = numbers(turn, bytes);
        backend.copyHtod(input, values);
        backend.unary({ op: 'neg', n: values.length, input, output });
        expected.read(backend, `result of turn ${turn}`, output, negated(values));
        if (turn % 20 === 19) {
          if (random.chance(0.5)) await backend.synchronize();
          await expected.check();
          expected = new Expected();
        }
      }
      await expected.check();
      backend.free(input);
      backend.free(output);
    },
    'unary',
  ),
  lifetimeCase(
    'several reads, whose memory is freed before the next call',
    async ({ backend, random }) => {
      const n = 2 ** 18;
      const busy = backend.alloc(4 * n);
      backend.fill(busy, 0, 4 * n);
      for (let turn = 0; turn < 30; turn++) {
        const values = Array.from({ length: 6 }, (_, i) => numbers(10 * turn + i, random.pick(SIZES)));
        const places = values.map(({ byteLength }) => backend.alloc(byteLength));
        for (const [i, ptr] of places.entries()) backend.copyHtod(ptr, values[i] as Float32Array);
        // Only now may what these leave behind be used again.
        await backend.synchronize();
        const expected = new Expected();
        for (let i = 0; i < 4; i++) backend.unary({ op: 'exp', n, input: busy, output: busy });
        for (const i of random.permutation(places.length)) {
          expected.read(backend, `place ${i} of turn ${turn}`, places[i] as DevicePtr, values[i] as Float32Array);
        }
        for (const i of random.permutation(places.length)) backend.free(places[i] as DevicePtr);
        if (random.chance(0.5)) backend.fill(busy, 0, 4 * n);
        else backend.copyHtod(busy, values[0] as Float32Array);
        await expected.check();
      }
      backend.free(busy);
    },
    'unary',
  ),
];

import { type DevicePtr, download, offsetPtr } from '@concord/backend-core';
import type { ConformanceCase } from '../harness/case.ts';
import { expectThrows } from '../harness/planned-call.ts';
import { BYTES, expectNumbers, expectSame, filled, INVALID, N, recordingCase, withMemory } from './recordings.ts';

/** Recordings that are replayed with other memory in named slots. */
export const recordingSlotCases: readonly ConformanceCase[] = [
  recordingCase('other memory in slots, in turns', async ({ backend, record }) => {
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
  }),
  recordingCase('memory that cannot take the place of a slot', async ({ backend, record }) => {
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
  }),
];

import { checkedRun, defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { Op, StorageClass } from '../../../../spirv-builder/src/generated/spirv.ts';
import { instructionsOf } from '../../../../spirv-builder/src/list-instructions.ts';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits } from '../recorder.ts';
import { planRun } from '../run/plan.ts';

/** Sums of places of largest elements, each fold of which has a state of two words. */
function places(count: number): Kernel {
  return defineKernel(`places ${count}`, { inputs: { x: 'f32' } }, ({ x }, k) => {
    let [value, sum] = [x, k.fold('argmax', x)];
    for (let folds = 1; folds < count; folds++) {
      value = k.add(value, x);
      sum = k.add(sum, k.fold('argmax', value));
    }
    return { y: sum };
  });
}

function planned(traits: DeviceTraits, kernel: Kernel, shape: readonly [number, number]): PlanRecorder {
  const recorder = new PlanRecorder(traits);
  const geometry = checkedRun(kernel, { shape, folded: 1, inputs: {}, outputs: {} });
  planRun({ geometry, spans: [fakeSpan(4 * shape[0] * shape[1]), fakeSpan(4 * shape[0])] }, recorder);
  return recorder;
}

/** Bytes of the workgroup memory of a module, all of it arrays of 32-bit words. */
function localBytes(words: Uint32Array): number {
  const [constants, lengths, pointees] = [
    new Map<number, number>(),
    new Map<number, number>(),
    new Map<number, number>(),
  ];
  let bytes = 0;
  for (const { opcode, operands } of instructionsOf(words)) {
    const [a, b, c] = operands as [number, number, number];
    if (opcode === Op.Constant) constants.set(b, c);
    if (opcode === Op.TypeArray) lengths.set(a, constants.get(c) as number);
    if (opcode === Op.TypePointer) pointees.set(a, c);
    const isShared = opcode === Op.Variable && c === StorageClass.Workgroup;
    if (isShared) bytes += 4 * (lengths.get(pointees.get(a) as number) as number);
  }
  return bytes;
}

describe('the workgroup memory of rows fits the device', () => {
  const plain: DeviceTraits = { ...TEST_DEVICES.gpu, subgroupSizes: [] };
  /** The variant of the first launch, and the size of its groups. */
  const teamOf = (maxLocalBytes: number): unknown => {
    const [first] = planned({ ...plain, maxLocalBytes }, places(32), [500, 3000]).launches;
    return [first?.variant, first?.kernel.groupSize[0]];
  };

  it.each([
    ['without sub-groups', plain],
    ['with sub-groups', TEST_DEVICES.gpu],
  ])('%s', (_, device) => {
    let max = 0;
    for (const count of [1, 8, 31, 32, 64]) {
      for (const shape of [
        [3, 1000],
        [10_000, 3000],
        [2, 2 ** 22],
      ] as const) {
        for (const maxLocalBytes of [1024, 32_768, 65_536]) {
          for (const { kernel } of planned({ ...device, maxLocalBytes }, places(count), shape).launches) {
            const bytes = localBytes(kernel.words());
            expect(bytes, `${kernel.name}, ${maxLocalBytes} bytes`).toBeLessThanOrEqual(maxLocalBytes);
            max = Math.max(max, bytes);
          }
        }
      }
    }
    expect(max).toBeGreaterThan(1024);
  });

  it('as many folds as fit are joined by a whole group, else by a smaller one, else each row by one work-item', () => {
    // Of each work-item two words of four bytes a fold.
    expect(teamOf(65_536)).toEqual(['run/rows-group', 256]);
    expect(teamOf(65_535)).toEqual(['run/rows-group', 64]);
    expect(teamOf(16_383)).toEqual(['run/rows-alone', 64]);
  });
});

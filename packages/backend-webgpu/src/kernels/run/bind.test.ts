import { defineKernel } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { fakeBuffer, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { plannedRun } from '../../../test/support/planned-run.ts';
import { double } from '../../../test/support/run-kernels.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import { PlanScratch } from './bind.ts';

const BINDING = 8192;
const traits = { ...TEST_DEVICES.defaults, maxBindingBytes: BINDING };

describe('a run that exceeds a binding', () => {
  it.each([5004, 5012, 40_004])('of %d elements is cut between vectors', (length) => {
    const { launches } = plannedRun(double, { shape: [length] }, traits);
    expect(launches.length).toBeGreaterThan(1);
    for (const { kernel } of launches) expect(kernel.code).toMatch(/array<vec4<?/);
  });

  it('has two outputs in one buffer in bindings that do not overlap', () => {
    const twice = defineKernel('twice', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.mul(x, 2), z: k.mul(x, 3) }));
    const bytes = 3 * BINDING + 20;
    const buffer = fakeBuffer(2 * bytes);
    const memory = [
      { buffer: fakeBuffer(bytes), byteOffset: 0, byteLength: bytes },
      { buffer, byteOffset: 0, byteLength: bytes },
      { buffer, byteOffset: bytes, byteLength: bytes },
    ];
    // The recorder refuses bindings that overlap.
    expect(plannedRun(twice, { shape: [bytes / 4], memory }, traits).launches.length).toBeGreaterThan(3);
    // Each fits a binding, both together do not, and the second begins within the last 256 bytes of the first.
    const near = 7000;
    const close = [
      { buffer: fakeBuffer(near), byteOffset: 0, byteLength: near },
      { buffer, byteOffset: 0, byteLength: near },
      { buffer, byteOffset: near, byteLength: near },
    ];
    expect(plannedRun(twice, { shape: [near / 4], memory: close }, traits).launches.length).toBeGreaterThan(1);
  });

  it('has an input of 2 bytes at an odd place of the far output in a copy', () => {
    const length = 1000;
    const buffer = fakeBuffer(10 * BINDING);
    const memory = [
      { buffer, byteOffset: 2, byteLength: 2 * length },
      { buffer, byteOffset: 8 * BINDING, byteLength: 2 * length },
    ];
    const asked = {
      shape: [length],
      inputs: { x: { dtype: 'f16' } },
      outputs: { y: { dtype: 'f16' } },
      memory,
    } as const;
    const { launches, copies } = plannedRun(double, asked, traits);
    expect(copies).toHaveLength(1);
    for (const { storage } of launches) {
      const copy = Object.values(storage).find((span) => span.buffer === copies[0]?.dst.buffer);
      expect(copy).toMatchObject({ byteOffset: 0, byteLength: 2 * length + 4 });
    }
  });

  it.each([3, 4, 5, 6, 7, 8])('has no more bindings than there are, with a table of %d', (windows) => {
    const inputs = { t: { type: 'f32', access: 'gather', rank: 1 }, a: 'f32', b: 'f32' } as const;
    const weighted = defineKernel('weighted', { inputs }, ({ t, a, b }, k) => ({
      y: k.fold('sum', k.mul(k.add(a, b), k.gather(t, [k.index(-1)], 0))),
    }));
    const shape = [4, 64];
    const plan = () =>
      plannedRun(weighted, { shape, folded: 1, inputs: { t: { shape: [(windows * BINDING) / 4] } } }, traits);
    // The two others, the output, and what rows leave for one another.
    if (windows <= 4) expect(plan().launches.length).toBeGreaterThan(0);
    else expect(plan).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });
});

it('inputs that begin at one place are copied apart where one is longer', () => {
  const scratch = new PlanScratch(new PlanRecorder(traits));
  const buffer = fakeBuffer(1024);
  const short = scratch.copyOf({ buffer, byteOffset: 4, byteLength: 16 });
  const long = scratch.copyOf({ buffer, byteOffset: 4, byteLength: 64 });
  expect(long.byteLength).toBeGreaterThanOrEqual(64);
  expect(long.buffer).not.toBe(short.buffer);
  expect(scratch.copyOf({ buffer, byteOffset: 4, byteLength: 16 })).toBe(short);
});

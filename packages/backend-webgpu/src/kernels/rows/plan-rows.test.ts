import { defineKernel } from '@concord/backend-core/kernel';
import { NOTHING_TUNED } from '@concord/variants';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plannedRun } from '../../../test/support/planned-run.ts';
import { sums } from '../../../test/support/run-kernels.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits, Launch } from '../recorder.ts';
import { VARIANT_IDS } from './plan-rows.ts';

/** A sum of more nodes than loops are unrolled for. */
const longSum = defineKernel('longSum', { inputs: { x: 'f32' } }, ({ x }, k) => {
  let value = x;
  for (let n = 0; n < 30; n++) value = k.abs(k.sub(value, n));
  return { y: k.fold('sum', value) };
});

function numberIn(code: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(code)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** The longest chain of additions of a launch: in its loops, then in its trees. */
function chainOf({ kernel: { code }, uniforms }: Launch): number {
  const lanes = numberIn(code, /@workgroup_size\((\d+)\)/) as number;
  const columns = numberIn(code, /let team_lane = lane \/ (\d+)u/);
  const team = columns === undefined ? (numberIn(code, /let team_lane = lane % (\d+)u/) ?? 1) : lanes / columns;
  const { steps = 0, chunk = steps, all_parts: parts = 0 } = uniforms;
  const tree = Math.log2(team);
  const joined = code.includes('< u.all_parts') ? Math.ceil(parts / team) + tree : 0;
  // Rows in registers have no loop: 32 vectors at most.
  const isUnrolled = / \+ \d+u < end/.test(code);
  const own = Math.ceil(Math.min(chunk, steps) / team);
  const loop = isUnrolled ? Math.floor(own / 4) + 2 + Math.min(3, own) : own;
  return joined + (code.includes('< end;') ? loop + 2 + tree : code.includes('< end') ? 7 + tree : 0);
}

/** The longest chain of additions that an element of a sum goes through. */
function chainOfSum(launches: readonly Launch[]): number {
  const stages = new Map<string, number>();
  for (const launch of launches) {
    const { name, code } = launch.kernel;
    stages.set(name + code, Math.max(stages.get(name + code) ?? 0, chainOf(launch)));
  }
  return [...stages.values()].reduce((sum, chain) => sum + chain, 0);
}

const size = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 3000 }));
const extents = fc.tuple(size, size, size).filter((all) => all.reduce((product, own) => product * own, 1) <= 2 ** 24);
const long = fc.integer({ min: 2 ** 20, max: 2 ** 30 });
const huge = fc.tuple(long, fc.constantFrom(1, 1, 2, 4)).map(([length, inner]) => [1, length, inner] as const);

const { tiny, ...real } = TEST_DEVICES;
const device = fc.constantFrom(...Object.values(real), { ...tiny, maxBindingBytes: 65_536 });

function launchesOf(traits: DeviceTraits, [outer, length, inner]: readonly [number, number, number], kernel = sums) {
  const strides = [length * inner, 1, inner];
  return plannedRun(kernel, { shape: [outer, inner, length], folded: 1, inputs: { x: { strides } } }, traits).launches;
}

const bound = (n: number): number => 1024 + 2 * Math.ceil(Math.log2(n));

it.each([
  [1, 2 ** 24, 1],
  [1, 2 ** 22, 4],
  [1, 2 ** 20 + 1, 1],
  [1, 2 ** 30, 1],
] as const)('a sum of [%d, %d, %d] has chains of bounded length on every device', (...shape) => {
  for (const [name, traits] of Object.entries(real)) {
    for (const kernel of [sums, longSum]) {
      expect(chainOfSum(launchesOf(traits, shape, kernel)), name).toBeLessThanOrEqual(bound(shape[1]));
    }
  }
});

it('no element of a sum goes through more additions than the bound allows', () => {
  fc.assert(
    fc.property(
      device,
      fc.oneof(extents, huge),
      fc.constantFrom('none', ...VARIANT_IDS),
      fc.constantFrom(sums, longSum),
      (own, shape, forced, kernel) => {
        // Thousands of windows of 64 KiB are as many plans.
        fc.pre(own.maxBindingBytes > 65_536 || shape[1] * shape[2] < 2 ** 22);
        const traits = { ...own, maxBufferBytes: 2 ** 40, preferences: { forced: [forced], tuned: NOTHING_TUNED } };
        if (shape[1] > 1100) expect(chainOfSum(launchesOf(traits, shape, kernel))).toBeLessThanOrEqual(bound(shape[1]));
      },
    ),
  );
});

const several = defineKernel('several', { inputs: { x: 'f32' } }, ({ x }, k) => ({
  sum: k.fold('sum', x),
  most: k.fold('max', x),
  least: k.fold('min', x),
  at: k.fold('argmax', x),
  mean: k.fold('mean', x),
}));
const chain = defineKernel('chain', { inputs: { x: 'f32' } }, ({ x }, k) => {
  let value = x;
  for (let phase = 0; phase < 20; phase++) value = k.sub(value, k.fold('max', k.mul(value, value)));
  return { y: value };
});

it.each(['none', ...VARIANT_IDS])('the values of teams fit the memory of a workgroup, %s', (forced) => {
  for (const own of Object.values(TEST_DEVICES)) {
    const preferences = { forced: [forced], tuned: NOTHING_TUNED };
    const traits = { ...own, subgroupSize: 0, maxBindingBytes: 2 ** 30, maxWorkgroupBytes: 16_384, preferences };
    for (const kernel of [several, chain]) {
      for (const strides of [
        [1, 4096],
        [1000, 1],
      ]) {
        const asked = { shape: [4096, 1000], folded: 1, inputs: { x: { strides } } };
        expect(() => plannedRun(kernel, asked, traits)).not.toThrow();
      }
    }
  }
});

it('teams use the memory of the phase before last again', () => {
  const { launches } = plannedRun(chain, { shape: [9, 5000], folded: 1 }, TEST_DEVICES.defaults);
  expect(launches[0]?.kernel.code.match(/var<workgroup>/g)).toHaveLength(2);
});

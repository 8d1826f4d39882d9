import { describe, expect, it } from 'vitest';
import { fakeSpan, PlanRecorder } from '../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../test/support/traits.ts';
import { planElementwise } from './elementwise.ts';
import { elementwiseKernel } from './elementwise.spv.ts';
import type { Kernel } from './kernel.ts';
import type { DeviceTraits, Launch, Span } from './recorder.ts';

function planned(n: number, traits: DeviceTraits): Launch {
  const recorder = new PlanRecorder(traits);
  const [a, output] = [fakeSpan(4 * n, 4), fakeSpan(4 * n, 12)];
  const kernel = (variant: 'run' | 'quad') =>
    elementwiseKernel({ name: 'test', variant, inputs: ['a'], scalars: ['b'], element: (k, x, y) => k.add(x, y) });
  planElementwise({ name: 'test', kernel, operands: { a, output, b: 2 }, n }, recorder);
  expect(recorder.launches).toHaveLength(1);
  expect(recorder.scratches).toEqual([]);
  return recorder.launches[0] as Launch;
}

const count = ({ groups: [x, y, z] }: Launch): number => x * y * z;

describe('on a CPU', () => {
  it.each([1, 15, 16, 1024, 8192])('%d elements are one work-item', (n) => {
    const launch = planned(n, TEST_DEVICES.cpu);
    expect([launch.kernel.name, launch.kernel.groupSize, launch.groups]).toEqual(['test run', [1, 1, 1], [1, 1, 1]]);
  });

  it.each([8193, 100_003, 2 ** 24, 2 ** 32 + 5])('%d elements are shared out in whole vectors', (n) => {
    const launch = planned(n, TEST_DEVICES.cpu);
    const chunk = launch.args['chunk'] as number;
    expect(chunk % 16).toBe(0);
    expect(count(launch)).toBe(Math.ceil(n / chunk));
    expect(count(launch)).toBeGreaterThanOrEqual(2);
    expect(count(launch)).toBeLessThanOrEqual(16);
  });
});

describe('on a GPU', () => {
  it.each([
    [1, [1, 1, 1]],
    [1024, [1, 1, 1]],
    [1025, [2, 1, 1]],
    [2 ** 30, [2 ** 20, 1, 1]],
  ] as const)('%d elements take a work-item for each four', (n, groups) => {
    const launch = planned(n, TEST_DEVICES.gpu);
    expect([launch.kernel.name, launch.kernel.groupSize, launch.groups]).toEqual(['test quad', [256, 1, 1], groups]);
  });

  it('goes to a second dimension where the first one is too short', () => {
    const launch = planned(1_024_001, TEST_DEVICES.fewGroups);
    expect(launch.groups).toEqual([501, 2, 1]);
    const many = planned(2 ** 30, TEST_DEVICES.fewGroups);
    expect(count(many)).toBeGreaterThanOrEqual(2 ** 20);
    expect(many.groups[0]).toBeLessThanOrEqual(1000);
  });

  it('comes in several launches where 32 bits do not number the elements', () => {
    const recorder = new PlanRecorder(TEST_DEVICES.gpu);
    const n = 2 ** 31 + 5;
    const kernel = (): Kernel =>
      elementwiseKernel({ name: 'test', variant: 'quad', inputs: ['x'], element: (_, x) => x });
    planElementwise(
      { name: 'test', kernel, operands: { x: fakeSpan(4 * n, 8), output: fakeSpan(4 * n) }, n },
      recorder,
    );
    expect(recorder.launches.map(({ args }) => args['n'])).toEqual([2 ** 30, 2 ** 30, 5]);
    expect(recorder.launches.map(({ args }) => (args['x'] as Span).byteOffset)).toEqual([8, 8 + 2 ** 32, 8 + 2 ** 33]);
    expect(recorder.launches.at(-1)?.args['output']).toMatchObject({ byteOffset: 2 ** 33, byteLength: 20 });
  });
});

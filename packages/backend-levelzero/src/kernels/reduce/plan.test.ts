import type { ResolvedReduce } from '../built-in.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceMemory, DeviceTraits, Launch } from '../recorder.ts';
import { allKernels, planReduce } from './plan.ts';

type Op = ResolvedReduce<DeviceMemory>['op'];
type Extents = readonly [outer: number, length: number, inner: number];

function planned(traits: DeviceTraits, [outer, axisLength, inner]: Extents, op: Op = 'sum'): PlanRecorder {
  const recorder = new PlanRecorder(traits);
  const input = axisLength > 0 ? fakeSpan(outer * axisLength * inner * 4, 4) : undefined;
  const output = fakeSpan(outer * inner * 4, 8);
  const rest = { opName: 'reduce', dtype: 'f32', operands: [] } as const;
  planReduce({ ...rest, op, outer, axisLength, inner, input, output }, recorder);
  expect(recorder.launches.at(-1)?.args['output']).toBe(output);
  return recorder;
}

const named = (kernels: readonly string[]): string[] => kernels.map((name) => `reduce/${name}`);

describe('on a CPU', () => {
  it.each([
    ['a short sum', [1, 1024, 1], ['rows-run sum of 1']],
    ['a long sum', [1, 2 ** 26, 1], ['rows-run sum of 1', 'rows-run sum of 1']],
    ['rows', [8192, 8192, 1], ['rows-run sum of 1']],
    ['four columns', [1, 1024, 4], ['rows-run sum of 4']],
    ['three columns', [1, 1000, 3], ['columns-run sum']],
    ['a matrix', [1, 1024, 1024], ['columns-run sum', 'columns-run sum']],
    ['a tall matrix', [1, 2 ** 20, 1024], ['columns-run sum', 'columns-run sum', 'columns-run sum']],
  ] as const)('%s', (_, extents, kernels) => {
    expect(planned(TEST_DEVICES.cpu, extents).kernelNames).toEqual(named(kernels));
  });

  it('a small one is one work-item', () => {
    for (const extents of [
      [1, 1024, 1],
      [32, 32, 1],
      [1, 64, 16],
      [16, 16, 3],
    ] as const) {
      expect(planned(TEST_DEVICES.cpu, extents).launches.map(({ groups }) => groups)).toEqual([[1, 1, 1]]);
    }
  });

  it('a large one keeps all threads busy', () => {
    for (const extents of [
      [1, 2 ** 20, 1],
      [1024, 1024, 1],
      [1, 1024, 1024],
      [3, 2 ** 18, 2],
    ] as const) {
      expect(planned(TEST_DEVICES.cpu, extents).launches[0]?.groups[0]).toBeGreaterThanOrEqual(4);
    }
  });
});

describe('on a GPU', () => {
  it.each([
    ['a long sum', [1, 2 ** 26, 1], ['rows-subgroup sum group of 16', 'rows-subgroup sum group of 16']],
    ['long rows', [8192, 8192, 1], ['rows-subgroup sum group of 16']],
    ['rows of 300', [2 ** 17, 300, 1], ['rows-subgroup sum subgroup of 16']],
    ['many short rows', [2 ** 22, 8, 1], ['lane sum']],
    ['wide columns', [1, 8192, 8192], ['team sum', 'lane sum']],
    ['enough columns', [1, 32, 2 ** 21], ['lane sum']],
    ['two columns, long', [1, 2 ** 22, 2], ['team sum', 'team sum']],
    ['one element', [1, 1, 1], ['lane sum']],
  ] as const)('%s', (_, extents, kernels) => {
    expect(planned(TEST_DEVICES.gpu, extents).kernelNames).toEqual(named(kernels));
  });

  it('without sub-groups teams work through workgroup memory', () => {
    expect(planned(TEST_DEVICES.plainGpu, [1, 2 ** 20, 1]).kernelNames).toEqual(named(['team sum', 'team sum']));
  });

  it('takes sub-groups only of sizes that fit a group', () => {
    const traits = { ...TEST_DEVICES.gpu, subgroupSizes: [1, 24, 32] };
    expect(planned(traits, [1, 512, 1]).kernelNames).toEqual(['reduce/rows-subgroup sum group of 32']);
  });
});

/** The longest chain of additions in a launch. */
function chainOf({ kernel, args }: Launch): number {
  const number = (name: string): number => args[name] as number;
  const steps = Math.min(number('chunk'), number('length'));
  const [, kind] = /reduce\/(\S+)/.exec(kernel.name) as unknown as [string, string];
  const last = Number(kernel.name.split(' ').at(-1));
  if (kind === 'rows-run') {
    const elements = steps * last;
    return Math.floor(elements / 64) + 3 + 2 + 4 + Math.min(15, elements) + 1;
  }
  if (kind === 'columns-run') return number('columns') >= 128 ? steps - 1 : Math.floor(steps / 8) + 7 + 3;
  const mates = {
    lane: 1,
    team: args['team'] as number,
    'rows-subgroup': kernel.name.includes(' group ') ? 256 : last,
  };
  // The mates' totals meet in a tree; how a device joins a sub-group is its own affair, one by one at worst.
  return (
    Math.floor(Math.ceil(steps / mates[kind as keyof typeof mates]) / 4) +
    3 +
    2 +
    (kind === 'rows-subgroup' ? last + 5 : 8)
  );
}

const size = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 3000 }));
const extentsOf = fc.oneof(
  fc.tuple(size, size, size),
  fc.tuple(fc.constant(1), fc.integer({ min: 1, max: 2 ** 31 }), fc.integer({ min: 1, max: 3 })),
  fc.tuple(fc.constant(1), fc.integer({ min: 1, max: 2 ** 23 }), fc.integer({ min: 100, max: 200 })),
);

describe.each(Object.entries(TEST_DEVICES))('on %s', (_, traits) => {
  it('reads every element once, writes every result, and keeps chains of additions short', () => {
    fc.assert(
      fc.property(extentsOf, fc.constantFrom<Op>('sum', 'max', 'min', 'mean'), (extents, op) => {
        const roomy = { ...traits, maxAllocationBytes: 2 ** 45 };
        const [outer, axisLength, inner] = extents;
        const { launches } = planned(roomy, extents, op);
        let [length, chain] = [axisLength, 0];
        for (const launch of launches) {
          const { args, groups } = launch;
          const [chunk, parts] = [args['chunk'] as number, args['parts'] as number];
          expect([args['length'], parts]).toEqual([length, Math.ceil(length / chunk)]);
          expect(groups[0] * groups[1]).toBeGreaterThanOrEqual(1);
          length = parts;
          chain += chainOf(launch);
        }
        expect(length).toBe(1);
        // With few elements no order has chains that are too long.
        if (axisLength > 64) expect(chain).toBeLessThanOrEqual(1024 + 2 * Math.ceil(Math.log2(axisLength)));
        expect(launches.at(-1)?.args['output']).toMatchObject({ byteLength: outer * inner * 4 });
      }),
      { numRuns: 300, seed: 4 },
    );
  });

  it('lists every kernel that plans ask for', () => {
    const known = new Set(allKernels(traits));
    fc.assert(
      fc.property(extentsOf, fc.constantFrom<Op>('sum', 'max', 'min', 'mean'), (extents, op) => {
        const { launches } = planned({ ...traits, maxAllocationBytes: 2 ** 45 }, extents, op);
        for (const { kernel } of launches) expect(known).toContain(kernel);
      }),
      { numRuns: 100, seed: 5 },
    );
  });

  it.each([
    ['sum', 0],
    ['max', -Infinity],
    ['min', Infinity],
    ['mean', Number.NaN],
  ] as const)('the %s of nothing is %d', (op, value) => {
    const { launches } = planned(traits, [3, 0, 5], op);
    expect(launches.map(({ args }) => [args['n'], args['value']])).toEqual([[15, value]]);
  });
});

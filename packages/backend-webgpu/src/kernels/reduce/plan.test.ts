import type { ResolvedReduce } from '../built-in.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits, Launch, StorageBuffer } from '../recorder.ts';
import { NOTHING_TUNED } from '@concord/variants';
import { planReduce, VARIANT_IDS } from './plan.ts';

type Op = ResolvedReduce<StorageBuffer>['op'];

function planned(
  traits: DeviceTraits,
  [outer, axisLength, inner]: readonly [number, number, number],
  { op = 'sum', offset = 0, isTogether = false }: { op?: Op; offset?: number; isTogether?: boolean } = {},
): PlanRecorder {
  const recorder = new PlanRecorder(traits);
  const [inputBytes, outputBytes] = [outer * axisLength * inner * 4, outer * inner * 4];
  const both = fakeSpan(inputBytes + outputBytes + offset);
  const [first, second] = isTogether ? [both, both] : [fakeSpan(inputBytes + offset), fakeSpan(outputBytes + offset)];
  const input = { ...first, byteOffset: offset, byteLength: inputBytes };
  const output = { ...second, byteOffset: offset + (isTogether ? inputBytes : 0), byteLength: outputBytes };
  const rest = { opName: 'reduce', dtype: 'f32', operands: [] } as const;
  planReduce({ ...rest, op, outer, axisLength, inner, input: axisLength > 0 ? input : undefined, output }, recorder);
  return recorder;
}

describe('on a large GPU', () => {
  it.each([
    ['a long sum', [1, 2 ** 26, 1], ['rows-team sum 256', 'rows-team sum 256']],
    ['long rows', [8192, 8192, 1], ['rows-team sum 256']],
    ['rows of 300', [2 ** 17, 300, 1], ['rows-team sum 32']],
    ['many short rows', [2 ** 22, 8, 1], ['rows-lane sum']],
    ['rows of less than two quads', [2 ** 22, 3, 1], ['columns-lane sum x1']],
    ['wide columns', [1, 8192, 8192], ['columns-team sum x4', 'columns-team sum x4']],
    ['channels of images', [64, 256, 56 * 56], ['columns-team sum x4']],
    ['two columns, long', [1, 2 ** 22, 2], ['columns-team sum x1', 'columns-team sum x1']],
    ['enough columns', [1, 32, 2 ** 21], ['columns-lane sum x4']],
    ['one element', [1, 1, 1], ['columns-lane sum x1']],
  ] as const)('%s', (_, extents, kernels) => {
    expect(planned(TEST_DEVICES.gpu, extents).kernelNames).toEqual(kernels.map((name) => `reduce/${name}`));
  });

  it('fills it', () => {
    for (const extents of [
      [1, 2 ** 26, 1],
      [8192, 8192, 1],
      [1, 8192, 8192],
      [1, 2 ** 22, 2],
    ] as const) {
      expect(planned(TEST_DEVICES.gpu, extents).launches[0]?.groups).toBeGreaterThanOrEqual(1000);
    }
  });
});

it('on software devices, nobody works together', () => {
  for (const extents of [
    [1, 2 ** 26, 1],
    [1, 2 ** 16, 64],
    [7, 300, 5],
  ] as const) {
    for (const name of planned(TEST_DEVICES.swiftshader, extents).kernelNames) expect(name).toMatch(/-lane /);
  }
});

it('four columns are read at once only where they lie on 16 bytes', () => {
  expect(planned(TEST_DEVICES.lavapipe, [3, 5, 64]).kernelNames).toEqual(['reduce/columns-lane sum x4']);
  expect(planned(TEST_DEVICES.lavapipe, [3, 5, 64], { offset: 4 }).kernelNames).toEqual(['reduce/columns-lane sum x1']);
  expect(planned(TEST_DEVICES.lavapipe, [3, 5, 63]).kernelNames).toEqual(['reduce/columns-lane sum x1']);
});

/** The longest chain of additions in a launch. */
function chainOf({ kernel, uniforms }: Launch): number {
  const { chunk = 0, length = 0, team: teamRows = 1 } = uniforms;
  const team = kernel.name.includes('rows-team') ? Number(kernel.name.split(' ').at(-1)) : teamRows;
  const elements = Math.ceil(Math.min(chunk, length) / team);
  const [atOnce, ends] = kernel.name.includes('rows') ? [16, 3 + 1 + 3 + 3 + 2] : [4, 3 + 2];
  return Math.floor(elements / atOnce) + ends + Math.ceil(Math.log2(team));
}

const size = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 3000 }));
const extents = fc.tuple(size, size, size).filter(([outer, length, inner]) => outer * length * inner <= 2 ** 24);
const huge = fc.integer({ min: 2 ** 24, max: 2 ** 30 }).map((length) => [1, length, 1] as const);

it('every launch obeys the device, and no element goes through more additions than the bound allows', () => {
  const { tiny, ...real } = TEST_DEVICES;
  const windows = { ...tiny, maxBindingBytes: 65_536 };
  fc.assert(
    fc.property(
      fc.oneof(
        fc.tuple(fc.constantFrom(...Object.values(real)), fc.oneof(extents, huge)),
        fc.tuple(fc.constantFrom(windows), extents),
      ),
      fc.constantFrom(0, 4),
      fc.boolean(),
      fc.constantFrom('none', ...VARIANT_IDS),
      ([device, shape], offset, isTogether, forced) => {
        const preferences = { forced: [forced], tuned: NOTHING_TUNED };
        const traits = { ...device, maxBufferBytes: 2 ** 40, preferences };
        const { launches, scratches } = planned(traits, shape, { offset, isTogether });
        const passes = new Map<number, number>();
        // Launches of one pass have the same destination.
        for (const launch of launches) {
          const id = launch.storage['output']?.buffer.id as number;
          passes.set(id, Math.max(passes.get(id) ?? 0, chainOf(launch)));
        }
        const chain = [...passes.values()].reduce((sum, length) => sum + length, 0);
        const [, n] = shape;
        if (n > 1100) expect(chain).toBeLessThanOrEqual(1024 + 2 * Math.ceil(Math.log2(n)));
        expect(scratches.length).toBeLessThanOrEqual(8);
      },
    ),
  );
});

describe('an input in the buffer of the output', () => {
  it('is reduced into scratch memory', () => {
    const { copies, scratches, launches } = planned(TEST_DEVICES.gpu, [4, 100, 4], { isTogether: true });
    expect(launches).toHaveLength(1);
    expect(copies.map(({ src }) => src)).toEqual(scratches);
    expect(copies[0]?.dst).toMatchObject({ byteOffset: 6400, byteLength: 64 });
  });

  it('needs no copy where there are parts', () => {
    expect(planned(TEST_DEVICES.gpu, [1, 2 ** 24, 1], { isTogether: true }).copies).toEqual([]);
  });
});

it('an input of many bindings is reduced in windows whose results meet', () => {
  const { launches, scratches } = planned({ ...TEST_DEVICES.defaults, maxBufferBytes: 2 ** 40 }, [1, 2 ** 28, 1]);
  expect(launches.length).toBeGreaterThan(8);
  expect(scratches.length).toBeLessThanOrEqual(2);
});

it('rows that do not fit a binding are gathered in strips', () => {
  const { launches, copies } = planned(TEST_DEVICES.tiny, [1, 20, 300]);
  expect(copies.length).toBeGreaterThan(20);
  expect(launches.at(-1)?.kernel.name).toMatch('columns');
});

it('a mean is scaled by a power of two in the first pass and divided in the last', () => {
  const n = 3 * 2 ** 22;
  const { launches } = planned(TEST_DEVICES.gpu, [1, n, 1], { op: 'mean' });
  expect(launches.map(({ uniforms }) => [uniforms['scale'], uniforms['divisor']])).toEqual([
    [2 ** -24, 1],
    [1, 0.75],
  ]);
});

it.each([
  ['sum', 0],
  ['max', 0xff800000],
  ['min', 0x7f800000],
  ['mean', 0x7fc00000],
] as const)('an empty axis gives a constant: %s', (op, value) => {
  const { launches } = planned(TEST_DEVICES.gpu, [3, 0, 5], { op, offset: 4 });
  expect(launches).toHaveLength(1);
  expect(launches[0]).toMatchObject({
    kernel: { name: 'memory/fill-words' },
    uniforms: { first: 1, count: 15, value },
  });
});

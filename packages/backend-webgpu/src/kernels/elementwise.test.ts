import { describe, expect, it } from 'vitest';
import { fakeSpan, PlanRecorder } from '../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../test/support/traits.ts';
import { allVariants, type Elementwise, planElementwise, VARIANT_IDS } from './elementwise.ts';
import { elementwiseKernel, type ElementwiseVariant } from './elementwise.wgsl.ts';
import type { Kernel } from './kernel.ts';
import { slice } from './operands.ts';
import type { DeviceTraits, Launch, Span } from './recorder.ts';
import { NOTHING_TUNED } from '@concord/variants';

const element = { uses: [], result: 'a + b' };
const kernel = (variant: ElementwiseVariant): Kernel =>
  elementwiseKernel({ ...variant, name: 'test', inputs: ['a', 'b'], element });

type Operands = Pick<Elementwise, 'inputs' | 'output' | 'n'>;

function planned(operands: Operands, traits: DeviceTraits = TEST_DEVICES.gpu): PlanRecorder {
  const recorder = new PlanRecorder(traits);
  planElementwise({ name: 'test', element, kernel, ...operands }, recorder);
  return recorder;
}

/** Operands in buffers of their own, `offset` bytes into each. */
function apart(n: number, offset = 0): Operands {
  const [a, b, output] = [fakeSpan(4 * n, offset), fakeSpan(4 * n, offset), fakeSpan(4 * n, offset)];
  return { inputs: { a, b }, output, n };
}

/** Bytes of the buffer that a launch reaches through one binding. */
function reached({ kernel: { name }, storage, uniforms }: Launch, operand: string): [from: number, to: number] {
  const vectorBytes = name.includes('vec4u') ? 16 : 4;
  const from = (storage[operand] as Span).byteOffset + (uniforms[`${operand}_first`] as number) * vectorBytes;
  return [from, from + (uniforms['count'] as number) * vectorBytes];
}

describe('operands apart', () => {
  it.each([
    ['aligned', 1024, 0, ['vec4u x1']],
    ['aligned to 16 bytes', 1024, 48, ['vec4u x1']],
    ['not aligned', 1024, 4, ['u32']],
    ['with a tail, short', 1023, 0, ['u32']],
    ['with a tail, long', 2 ** 22 + 3, 0, ['vec4u x1', 'u32']],
    ['of one element', 1, 0, ['u32']],
  ] as const)('%s', (_, n, offset, variants) => {
    const call = apart(n, offset);
    for (const traits of [TEST_DEVICES.gpu, TEST_DEVICES.defaults]) {
      const { launches, kernelNames, copies } = planned(call, traits);
      expect(kernelNames).toEqual(variants.map((variant) => `test ${variant}`));
      expect(copies).toEqual([]);
      expect(reached(launches[0] as Launch, 'a')[0]).toBe(offset);
      expect(reached(launches.at(-1) as Launch, 'output')[1]).toBe(offset + 4 * n);
    }
  });

  it.each([0, 4, 16])('in windows, %d bytes from the start: every element once', (offset) => {
    const n = 1003;
    const { launches } = planned(apart(n, offset), TEST_DEVICES.tiny);
    expect(launches.length).toBeGreaterThan(4);
    for (const operand of ['a', 'b', 'output']) {
      let end = offset;
      for (const launch of launches) {
        const [from, to] = reached(launch, operand);
        expect(from).toBe(end);
        end = to;
      }
      expect(end).toBe(offset + 4 * n);
    }
  });

  it('of more than one binding can hold', () => {
    const { launches } = planned(apart(3 * 2 ** 30));
    expect(launches.map(({ kernel: { name } }) => name)).toEqual(Array.from({ length: 4 }, () => 'test vec4u x1'));
  });
});

describe('operands in one buffer', () => {
  const n = 64;
  const whole = fakeSpan(12 * n);
  const [first, second, third] = [0, 1, 2].map((index) => slice(whole, 4 * n * index, 4 * n)) as [Span, Span, Span];

  it.each([
    ['over a', { a: first, b: second }, first, 'test vec4u x1 in a', 1],
    ['over b', { a: first, b: second }, second, 'test vec4u x1 in b', 1],
    ['over both', { a: first, b: first }, first, 'test vec4u x1 in a in b', 0],
    ['beside both', { a: first, b: second }, third, 'test vec4u x1', 2],
  ])('%s', (_, inputs, output, name, copied) => {
    const { kernelNames, scratches } = planned({ inputs, output, n });
    expect(kernelNames).toEqual([name]);
    expect(scratches).toHaveLength(copied);
  });
});

it('has a kernel for every way and every set of inputs in place', () => {
  const names = allVariants(['a', 'b']).map((variant) => kernel(variant).name);
  const ways = ['u32', 'vec4u', 'vec4u x1', 'vec4u x2', 'vec4u x4'];
  const inPlace = ['', ' in a', ' in b', ' in a in b'];
  expect(names.sort()).toEqual(inPlace.flatMap((inputs) => ways.map((way) => `test ${way}${inputs}`)).sort());
});

describe('the way', () => {
  const wayOf = (traits: DeviceTraits, isHeavy: boolean, offset = 0): string | undefined => {
    const recorder = new PlanRecorder(traits);
    const heavy = { ...element, ...(isHeavy && { isHeavy: true as const }) };
    planElementwise({ name: 'test', element: heavy, kernel, ...apart(2 ** 20, offset) }, recorder);
    return recorder.launches[0]?.variant;
  };

  it('depends on the device, the function and the alignment', () => {
    expect(wayOf(TEST_DEVICES.gpu, false)).toBe('elementwise/vec4x1');
    expect(wayOf(TEST_DEVICES.gpu, true)).toBe('elementwise/vec4x4');
    expect(wayOf(TEST_DEVICES.lavapipe, true)).toBe('elementwise/vec4');
    expect(wayOf(TEST_DEVICES.gpu, true, 4)).toBe('elementwise/scalar');
  });

  it.each(VARIANT_IDS)('can be forced: %s', (id) => {
    const preferences = { forced: [id], tuned: NOTHING_TUNED };
    expect(wayOf({ ...TEST_DEVICES.gpu, preferences }, false)).toBe(id);
  });
});

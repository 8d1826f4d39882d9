import { toBf16Array, toF16Array } from '@concord/backend-core';
import { checkedRun, defineKernel, type RunShape } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { KernelLauncher, TRAITS } from '../../../test/support/kernel-launcher.ts';
import { runKernel } from '../run/run.ts';

const copy = defineKernel('copy', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.spread(x) }));
type Half = 'f16' | 'bf16';
type Elements = Uint16Array | Float32Array;

/** Elements of one type stored as another. */
function converted(values: Elements, from: Half | 'f32', to: Half): Uint16Array {
  const launcher = new KernelLauncher(TRAITS[0]!);
  const [x, y] = [launcher.operand(values), launcher.operand(new Uint16Array(values.length))];
  const shape: Pick<RunShape, 'shape' | 'inputs' | 'outputs'> = {
    shape: [values.length],
    inputs: { x: { dtype: from } },
    outputs: { y: { dtype: to } },
  };
  const geometry = checkedRun(copy, { inputs: {}, outputs: {}, ...shape });
  runKernel(launcher).run({ geometry, inputs: [x], outputs: [y], params: [], inPlace: [false] });
  return new Uint16Array(launcher.bytes(y).slice().buffer);
}

const isNan = { f16: (bits: number) => (bits & 0x7fff) > 0x7c00, bf16: (bits: number) => (bits & 0x7fff) > 0x7f80 };

describe.each(['f16', 'bf16'] as const)('%s', (half) => {
  it('keeps all bits of what is read and stored', () => {
    const all = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);
    const got = converted(all, half, half);
    expect([...all].filter((bits) => got[bits] !== bits)).toEqual([]);
  });

  it('is rounded to nearest even, ties and subnormal numbers too', () => {
    const words = Uint32Array.from({ length: 60_000 }, (_, at) => {
      const random = Math.imul(at + 1, 0x9e37_79b1);
      // Every third has bits that are cut off as they are in a tie; every fifth is about the minimum and the maximum number.
      const tie = at % 3 === 0 ? (random & ~0x1fff) | (half === 'f16' ? 0x1000 : 0x8000) : random;
      return at % 5 === 0 ? (tie & 0x80ff_ffff) | (at % 2 === 0 ? 0x3300_0000 : 0x4700_0000) : tie;
    });
    const values = new Float32Array(words.buffer);
    const want = (half === 'f16' ? toF16Array : toBf16Array)(values);
    const got = converted(values, 'f32', half);
    const wrong = [...got.keys()].filter(
      (at) => got[at] !== want[at] && !(Number.isNaN(values[at]) && isNan[half](got[at] as number)),
    );
    expect(wrong).toEqual([]);
  });
});

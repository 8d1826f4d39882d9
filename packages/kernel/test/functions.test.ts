import type { NodeOp } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { arithmeticNode } from '../src/functions/arithmetic-node.ts';
import { ACCURACIES, pow, powGrant } from './support/accuracy.ts';
import { type Device, floatArithmetic } from './support/float-arithmetic.ts';
import { flushed, note, used, type Worst } from './support/judge.ts';
import { anyFloats, moderateFloats, SPECIAL } from './support/samples.ts';

const DEVICES: Readonly<Record<string, Device>> = {
  'is IEEE 754': {},
  'has no subnormals': { flushes: true },
  'has too large an exponential': { expError: 1, flushes: true },
  'has too small an exponential': { expError: -1 },
  'has too large quotients': { divideError: 3 },
  'has too small quotients': { divideError: -3, flushes: true },
  truncates: { truncates: true },
};

const nodeOf = (op: NodeOp) => ({ kind: 'arithmetic', op, type: 'f32', level: 'element', operands: [0] }) as const;

describe.each(Object.entries(DEVICES))('on a device that %s', (_, device) => {
  const a = floatArithmetic(device);

  it.each(Object.entries(ACCURACIES))('%s is within its grant', (op, accuracy) => {
    const { exact, grant, limit = 60 } = accuracy;
    const worst: Worst = { used: 0, detail: '' };
    for (const x of [...SPECIAL, ...anyFloats(2_000), ...moderateFloats(6_000, limit)]) {
      const got = arithmeticNode(a, nodeOf(op as NodeOp), ['f32'], [x]);
      const part = used(got, flushed(x).map(exact), grant(x));
      note(worst, part, () => `${op}(${x}) gave ${got}, not ${exact(x)}`);
    }
    expect(worst.used <= 1 ? '' : worst.detail).toBe('');
  });

  const pairs = [
    ...SPECIAL.flatMap((x) => SPECIAL.map((y) => [x, y] as const)),
    ...anyFloats(2_000).map((x, i) => [x, anyFloats(1, i + 7)[0] as number] as const),
    ...moderateFloats(3_000, 20).map((x, i) => [x, (moderateFloats(1, 20)[0] as number) * (i % 97)] as const),
  ].map(([x, y]) => [x, Math.fround(y)] as const);

  it.each([
    ['div', (x: number, y: number) => x / y, () => ({ ulps: 3 })],
    ['pow', pow, powGrant],
    ['atan2', Math.atan2, () => ({ ulps: 6 })],
  ] as const)('%s is within its grant', (op, exact, grant) => {
    const worst: Worst = { used: 0, detail: '' };
    for (const [x, y] of pairs) {
      const got = arithmeticNode(a, nodeOf(op), ['f32', 'f32'], [x, y]);
      const wants = flushed(x).flatMap((first) => flushed(y).map((second) => exact(first, second)));
      note(worst, used(got, wants, grant(x, y)), () => `${op}(${x}, ${y}) gave ${got}, not ${exact(x, y)}`);
    }
    expect(worst.used <= 1 ? '' : worst.detail).toBe('');
  });
});

it('gives whole quotients where the device does', () => {
  const a = floatArithmetic();
  for (let i = 1; i < 2000; i++) {
    const y = (i * 7919) % 4093;
    expect(arithmeticNode(a, nodeOf('div'), ['f32', 'f32'], [i * y, y])).toBe(i * y === 0 ? NaN : i);
  }
});

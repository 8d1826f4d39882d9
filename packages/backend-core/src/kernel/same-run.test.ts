import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { checkedRun, defineKernel } from './index.ts';

const copy = () =>
  defineKernel('copy', { inputs: { x: 'f32', t: { type: 'f32', access: 'gather', rank: 1 } } }, ({ x, t }, k) => ({
    y: k.add(x, k.gather(t, [k.index(0)], 0)),
  }));
const asked = (n: number, stride = 1) => ({
  shape: [n],
  inputs: { x: { strides: [stride] }, t: { shape: [n] } },
  outputs: { y: {} },
});

describe('checkedRun', () => {
  it('gives one frozen object for one geometry', () => {
    const kernel = copy();
    const first = checkedRun(kernel, asked(4));
    expect(checkedRun(kernel, asked(4))).toBe(first);
    const others = [
      checkedRun(kernel, asked(5)),
      checkedRun(kernel, asked(4, 2)),
      checkedRun(kernel, { ...asked(4), inputs: { x: {}, t: { shape: [3] } } }),
      checkedRun(kernel, { ...asked(4), outputs: { y: { dtype: 'f16' } } }),
      checkedRun(copy(), asked(4)),
    ];
    expect(new Set([first, ...others]).size).toBe(6);
    expect(new Set([first, ...others].map(({ id }) => id)).size).toBe(6);
    expect(checkedRun(kernel, asked(4))).toBe(first);
    for (const part of [first, first.shape, first.inputs, first.inputs[0], first.outputs[0]?.strides]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('also where it is asked for in other words', () => {
    const kernel = copy();
    const plain = checkedRun(kernel, { shape: [4], inputs: { t: { shape: [4] } }, outputs: {} });
    expect(checkedRun(kernel, asked(4))).toBe(plain);
    const spelt = {
      shape: [4],
      inputs: { x: { dtype: 'f32', strides: [1] }, t: { shape: [4], strides: [1], dtype: 'f32' } },
      outputs: { y: { strides: [1], dtype: 'f32' } },
    } as const;
    expect(checkedRun(kernel, { ...spelt, folded: 0 })).toBe(plain);
    // The stride of an axis of size 1 is ignored.
    const one = checkedRun(kernel, asked(1));
    expect(checkedRun(kernel, asked(1, 9))).toBe(one);
  });

  it('is independent of later changes to the lists that it was given', () => {
    const kernel = copy();
    const call = asked(4);
    const first = checkedRun(kernel, call);
    call.shape[0] = 7;
    call.inputs.x.strides[0] = 3;
    call.inputs.t.shape[0] = 1;
    expect(first).toMatchObject({ shape: [4], inputs: [{ strides: [1] }, { shape: [4] }] });
    expect(checkedRun(kernel, asked(4))).toBe(first);
    expect(checkedRun(kernel, call)).not.toBe(first);
  });

  it('has the same ids in every round of more geometries than a few', () => {
    const kernel = copy();
    const round = () => Array.from({ length: 400 }, (_, n) => checkedRun(kernel, asked(n + 1)).id);
    const first = round();
    expect(new Set(first).size).toBe(400);
    expect(round()).toEqual(first);
    expect(round()).toEqual(first);
  });

  it('keeps what is asked for again, in whatever words, while thousands pass', () => {
    const kernel = copy();
    const plain = { shape: [5000], inputs: { x: {}, t: { shape: [5000] } }, outputs: {} };
    const first = checkedRun(kernel, plain);
    for (let n = 1; n < 3000; n++) {
      checkedRun(kernel, asked(n));
      if (n % 100 === 0) expect(checkedRun(kernel, n % 200 === 0 ? plain : asked(5000))).toBe(first);
    }
  });

  it('forgets what no call asks for any more', () => {
    const kernel = copy();
    const first = checkedRun(kernel, asked(5000));
    for (let n = 1; n < 2000; n++) checkedRun(kernel, asked(n));
    const again = checkedRun(kernel, asked(5000));
    expect(again).not.toBe(first);
    expect(again.id).not.toBe(first.id);
    expect(again).toEqual({ ...first, id: again.id });
  });

  it('says the same of what is no list, before and after the kernel has run', () => {
    const kernel = copy();
    const shapes = [null, undefined, 4, '4', { 0: 4, length: 1 }] as never[];
    const refused = () => shapes.map((shape) => expectInvalid(() => checkedRun(kernel, { ...asked(4), shape })).detail);
    const before = refused();
    checkedRun(kernel, asked(4));
    expect(refused()).toEqual(before);
    const strides = (value: unknown) =>
      ({ ...asked(4), inputs: { x: { strides: value }, t: { shape: [4] } } }) as never;
    expectInvalid(() => checkedRun(kernel, strides(null)), 'strides of input x must be an array of integers, got null');
    // A failed one takes no place.
    expect(checkedRun(kernel, asked(4))).toBe(checkedRun(kernel, asked(4)));
  });
});

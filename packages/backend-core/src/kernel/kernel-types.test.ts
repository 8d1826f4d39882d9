import { describe, expect, expectTypeOf, it } from 'vitest';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { expectInvalid } from '../../test/expect-error.ts';
import { defineKernel, type Kernel, type RunCall, type RunOperand, type Value } from './index.ts';

// The compiler is the test here: `tsc -p tsconfig.tests.json` fails where one of these lines is wrong.

const scaled: Kernel<{ x: 'f32'; w: { type: 'f32'; level: 'row' } }, { eps: 'f32' }, 'y' | 'total'> = defineKernel(
  'scaled',
  { inputs: { x: 'f32', w: { type: 'f32', level: 'row' } }, params: { eps: 'f32' } },
  ({ x, w, eps }, k) => {
    expectTypeOf(x).toEqualTypeOf<Value<'f32'>>();
    expectTypeOf(eps).toEqualTypeOf<Value<'f32'>>();
    expectTypeOf(k.gt(x, 0)).toEqualTypeOf<Value<'bool'>>();
    expectTypeOf(k.fold('argmax', x)).toEqualTypeOf<Value<'u32'>>();
    expectTypeOf(k.fold('count', k.gt(x, 0))).toEqualTypeOf<Value<'u32'>>();
    expectTypeOf(k.select(k.gt(x, 0), x, 1)).toEqualTypeOf<Value<'f32'>>();
    expectTypeOf(k.bitcast('i32', x)).toEqualTypeOf<Value<'i32'>>();
    return { y: k.mul(k.add(x, eps), w), total: k.fold('sum', x) };
  },
);
type Call = RunCall<{ x: 'f32'; w: { type: 'f32'; level: 'row' } }, { eps: 'f32' }, 'y' | 'total'>;

describe('types of a kernel', () => {
  it('a call has the names of its kernel', () => {
    type Inputs = Call['inputs'];
    expectTypeOf<Inputs>().toEqualTypeOf<{ readonly x: DevicePtr | RunOperand; readonly w: DevicePtr | RunOperand }>();
    expectTypeOf<Call['params']>().toEqualTypeOf<{ readonly eps: number }>();
    expectTypeOf<keyof Call['outputs']>().toEqualTypeOf<'y' | 'total'>();
    expect(scaled.outputs.map(({ name }) => name)).toEqual(['y', 'total']);
  });

  it('a record that would be empty may be left out', () => {
    const iota = defineKernel('iota', {}, (_, k) => ({ y: k.index(0) }));
    const call = (of: RunCall<{}, {}, 'y'>): typeof of => of;
    expect(call({ shape: [3], outputs: { y: 256 as DevicePtr } })).toBeDefined();
    expect(iota.inputs).toEqual([]);
  });

  it('what a device would refuse, the compiler does', () => {
    expectInvalid(() =>
      // @ts-expect-error - rem is of integers
      defineKernel('k', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.rem(x, x) })),
    );
    expectInvalid(() =>
      // @ts-expect-error - of one type
      defineKernel('k', { inputs: { x: 'f32', n: 'u32' } }, ({ x, n }, k) => ({ y: k.add(x, n) })),
    );
    expectInvalid(() =>
      // @ts-expect-error - a bool cannot be stored
      defineKernel('k', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.gt(x, 0) })),
    );
    expectInvalid(() =>
      // @ts-expect-error - not a type
      defineKernel('k', { inputs: { x: 'f64' } }, ({ x }) => ({ y: x })),
    );
    // @ts-expect-error - there is no input z
    expectInvalid(() => defineKernel('k', { inputs: { x: 'f32' } }, ({ z }) => ({ y: z })));
    // @ts-expect-error - another kernel's outputs
    const other: Kernel<{ x: 'f32' }, {}, 'z'> = defineKernel('k', { inputs: { x: 'f32' } }, ({ x }) => ({ y: x }));
    expect(other.outputs[0]?.name).toBe('y');
  });
});

import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { defineKernel, type InputSpecs, type Kernel, type KernelBuilder, type Value } from '../kernel/index.ts';
import { epilogueOperands, placeEpilogue, checkEpilogue } from './epilogue.ts';

type Values = Record<string, Value<'f32'>>;
const kernelOf = (inputs: object, compute: (s: Values, k: KernelBuilder) => object, params: object = {}): Kernel =>
  defineKernel<InputSpecs>('e', { inputs, params } as never, compute as never);
const check = (epilogue: unknown) =>
  placeEpilogue(checkEpilogue(epilogue as never), ['b', 'm', 'n'], [2, 3, 4], [12, 4, 1], 'f16');

const plain = kernelOf({ acc: 'f32', bias: 'f32' }, ({ acc, bias }, k) => ({ c: k.add(acc!, bias!) }));

describe('an epilogue', () => {
  it('is over the domain of the output, in its layout and dtype', () => {
    expect(check({ kernel: plain, inputs: { bias: { ptr: 512, strides: [0, 0, 1], dtype: 'bf16' } } })).toMatchObject({
      geometry: {
        shape: [2, 3, 4],
        inputs: [
          { name: 'acc', dtype: 'f32', strides: [12, 4, 1] },
          { name: 'bias', dtype: 'bf16', extent: 4 },
        ],
        outputs: [{ name: 'c', dtype: 'f16', strides: [12, 4, 1] }],
      },
      params: [],
    });
  });

  it('its inputs are operands of the call, acc is not', () => {
    const checked = check({ kernel: plain, inputs: { bias: { strides: [0, 0, 1], dtype: 'bf16' } } });
    expect(epilogueOperands(checked)).toEqual([{ name: 'epilogue.bias', dtype: 'bf16', elements: 4 }]);
    expect(epilogueOperands(undefined)).toEqual([]);
    expect(check(undefined)).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['epilogue must be { kernel, inputs?, params? }, got null', null],
    ['epilogue must be { kernel, inputs?, params? }, got 5', 5],
    ['epilogue has no field param; did you mean params?', { kernel: plain, param: {} }],
    ['a kernel must be an object, got undefined', {}],
    ['epilogue.inputs has no field acc; it has bias', { kernel: plain, inputs: { acc: 256 } }],
    ['epilogue.inputs has no field bias2; did you mean bias?', { kernel: plain, inputs: { bias2: 256 } }],
    ['strides of input bias must have 3 elements, got [1]', { kernel: plain, inputs: { bias: { strides: [1] } } }],
  ])('%s', (detail, epilogue) => {
    expectInvalid(() => check(epilogue), detail);
  });

  const acc = { acc: 'f32' };
  const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, 'f32']));
  const sumOf = (values: Values, k: KernelBuilder) => Object.values(values).reduce((a, b) => k.add(a, b));
  const negated =
    (times: number) =>
    ({ acc: value }: Values, k: KernelBuilder) => {
      let c = value as Value<'f32'>;
      for (let i = 0; i < times; i++) c = k.neg(c);
      return { c };
    };
  it.each<[string, Kernel]>([
    ['must have an element input acc of type f32', kernelOf({ x: 'f32' }, ({ x }, k) => ({ c: k.neg(x!) }))],
    [
      'must have an element input acc of type f32',
      kernelOf({ acc: 'i32' }, ({ acc: a }, k) => ({ c: k.toF32(a as never) })),
    ],
    [
      'must have an element input acc of type f32',
      kernelOf({ acc: { type: 'f32', level: 'row' } }, ({ acc: a }, k) => ({ c: k.spread(a!) })),
    ],
    ['takes at most 3 inputs besides acc', kernelOf({ ...acc, ...named(4) }, (all, k) => ({ c: sumOf(all, k) }))],
    ['takes at most 15 parameters', kernelOf(acc, (all, k) => ({ c: sumOf(all, k) }), named(16))],
    ['takes at most 254 nodes', kernelOf(acc, negated(254))],
    ['must have one output of type f32', kernelOf(acc, ({ acc: a }, k) => ({ c: k.neg(a!), d: k.exp(a!) }))],
    ['must have one output of type f32', kernelOf(acc, ({ acc: a }, k) => ({ c: k.toI32(a!) }))],
    ['must not fold or have values of rows', kernelOf(acc, ({ acc: a }, k) => ({ c: k.sub(a!, k.fold('max', a!)) }))],
    [
      'must not gather',
      kernelOf({ ...acc, t: { type: 'f32', access: 'gather', rank: 1 } }, ({ acc: a, t }, k) => ({
        c: k.add(a!, k.gather(t as never, [k.index(-1)], 0)),
      })),
    ],
  ])('a kernel that %s', (detail, kernel) => {
    expectInvalid(() => check({ kernel }), `epilogue e ${detail}`);
  });

  it('takes 3 inputs besides acc, 15 parameters, 254 nodes', () => {
    expect(check({ kernel: kernelOf({ ...acc, ...named(3) }, (all, k) => ({ c: sumOf(all, k) })) })).toBeDefined();
    expect(check({ kernel: kernelOf(acc, (all, k) => ({ c: sumOf(all, k) }), named(15)) })).toBeDefined();
    expect(check({ kernel: kernelOf(acc, negated(253)) })).toBeDefined();
  });
});

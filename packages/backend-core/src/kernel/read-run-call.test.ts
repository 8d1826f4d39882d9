import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { defineKernel } from './index.ts';
import { readRun } from './read-run-call.ts';

const kernel = defineKernel(
  'kernel',
  {
    inputs: { x: 'f32', t: { type: 'f32', access: 'gather', rank: 1 } },
    params: { eps: 'f32', offset: 'u32', shift: 'i32' },
  },
  ({ x, t, eps, offset, shift }, k) => ({
    y: k.add(k.add(x, eps), k.gather(t, [k.add(k.index(0), offset)], k.toF32(shift))),
  }),
);
const PARAMS = { eps: 0.1, offset: 2 ** 32 - 1, shift: -(2 ** 31) };
const read = (call: unknown) => readRun(kernel, call);

describe('readRun', () => {
  it('takes layouts and addresses apart', () => {
    const call = {
      shape: [4],
      folded: undefined,
      inputs: { x: 256, t: { ptr: 512, shape: [9], dtype: 'f16' } },
      outputs: { y: { ptr: 768, strides: [2] } },
      params: PARAMS,
    };
    expect(read(call)).toEqual({
      shape: [4],
      folded: undefined,
      inputs: { views: [undefined, { shape: [9], dtype: 'f16' }], pointers: [256, 512] },
      outputs: { views: [{ strides: [2] }], pointers: [768] },
      params: [Math.fround(0.1), 2 ** 32 - 1, -(2 ** 31)],
    });
  });

  it('leaves out what is not given', () => {
    const none = [undefined, undefined];
    expect(read({ shape: [4] })).toMatchObject({
      inputs: { views: none, pointers: none },
      outputs: { views: [undefined], pointers: [undefined] },
      params: [],
    });
    expect(read({ shape: [4], inputs: { x: undefined, t: { shape: [1] } } }).inputs.pointers).toEqual(none);
  });

  it.each([
    ['run takes one object, got null', null],
    ['run has no field fold_ed; did you mean folded?', { fold_ed: 1 }],
    ['run has no field shapes; did you mean shape?', { shapes: [] }],
    ['run has no field parameters; it has kernel, shape, folded, inputs, outputs, params', { parameters: {} }],
    ['inputs must be an object, got 5', { inputs: 5 }],
    ['inputs must be an object, got null', { inputs: null }],
    ['inputs has no field X; did you mean x?', { inputs: { X: 256 } }],
    ['outputs has no field out; it has y', { outputs: { out: 256 } }],
    ['inputs.x must be a DevicePtr, got "256"', { inputs: { x: '256' } }],
    ['inputs.x must be a DevicePtr, got null', { inputs: { x: null } }],
    ['outputs.y.ptr must be a DevicePtr, got -1', { outputs: { y: { ptr: -1 } } }],
    ['outputs.y has no field stride; did you mean strides?', { outputs: { y: { stride: [1] } } }],
    ['inputs.x has no field shape; it has ptr, strides, dtype', { inputs: { x: { ptr: 256, shape: [4] } } }],
    ['params must be an object, got 1', { params: 1 }],
    ['params has no field epsilon; did you mean eps?', { params: { epsilon: 1 } }],
    ['params.shift must be a number, got undefined', { params: { eps: 1, offset: 1 } }],
    ['params.eps must be a number, got "1"', { params: { ...PARAMS, eps: '1' } }],
    ['params.offset must be an integer from 0 to 4294967295, got -1', { params: { ...PARAMS, offset: -1 } }],
    ['params.offset must be an integer from 0 to 4294967295, got NaN', { params: { ...PARAMS, offset: Number.NaN } }],
    ['params.shift must be an integer from -2147483648 to 2147483647, got 0.5', { params: { ...PARAMS, shift: 0.5 } }],
  ])('%s', (detail, call) => {
    expectInvalid(() => read(call), detail);
  });

  it('does not take what an object inherits for an operand', () => {
    const inherits = Object.create({ x: 256 }) as object;
    expect(read({ shape: [4], inputs: inherits }).inputs.pointers).toEqual([undefined, undefined]);
  });

  it('reads the fields of a view once each, also those of a class', () => {
    const fields: string[] = [];
    class View {
      get ptr() {
        fields.push('ptr');
        return 256;
      }
      get strides() {
        fields.push('strides');
        return [2];
      }
      get dtype() {
        fields.push('dtype');
        return 'f16';
      }
    }
    const { inputs } = read({ shape: [4], inputs: { x: new View() } });
    expect(inputs.views[0]).toEqual({ strides: [2], dtype: 'f16' });
    expect(inputs.pointers[0]).toBe(256);
    expect(fields.sort()).toEqual(['dtype', 'ptr', 'strides']);
  });
});

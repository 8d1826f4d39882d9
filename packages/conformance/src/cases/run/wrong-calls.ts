import { type DevicePtr, NULL_PTR, offsetPtr } from '@concord/backend-core';
import { GUARD, type LooseCall } from './refusals.ts';

/** The wrong call, of a right one and the addresses of its operands. */
export type MakeWrong = (call: LooseCall, ptr: Readonly<Record<string, DevicePtr>>) => unknown;

/** The fault, the detail of the error, and the call. */
export type Wrong = readonly [what: string, detail: RegExp, make: MakeWrong];

/** The call with another input. */
export const input =
  (name: string, change: (ptr: DevicePtr, all: Readonly<Record<string, DevicePtr>>) => unknown): MakeWrong =>
  (call, ptr) => ({ ...call, inputs: { ...call.inputs, [name]: change(ptr[name] as DevicePtr, ptr) } });
/** The call with another output. */
export const output =
  (name: string, change: (ptr: DevicePtr, all: Readonly<Record<string, DevicePtr>>) => unknown): MakeWrong =>
  (call, ptr) => ({ ...call, outputs: { ...call.outputs, [name]: change(ptr[name] as DevicePtr, ptr) } });
const param =
  (name: string, value: unknown): MakeWrong =>
  (call) => ({ ...call, params: { ...call.params, [name]: value } });
const without =
  (field: 'inputs' | 'outputs' | 'params', name: string): MakeWrong =>
  (call) => ({
    ...call,
    [field]: Object.fromEntries(Object.entries(call[field]).filter(([own]) => own !== name)),
  });
/** The call with other fields. */
export const field =
  (change: Readonly<Record<string, unknown>>): MakeWrong =>
  (call) => ({ ...call, ...change });
const viewed = (name: string, view: Readonly<Record<string, unknown>>): MakeWrong =>
  input(name, (ptr) => ({ ptr, ...(name === 't' ? { shape: [9, 5] } : {}), ...view }));

const DOMAIN: readonly Wrong[] = [
  ['no call', /takes one object/, () => undefined],
  ['an empty value for a call', /takes one object/, () => null],
  ['a call that is a number', /takes one object/, () => 7],
  ['no shape', /shape must be an array/, field({ shape: undefined })],
  ['a shape that is a number', /shape must be an array/, field({ shape: 24 })],
  ['a negative size', /shape\[1\] must be/, field({ shape: [4, -6] })],
  ['a fraction as a size', /shape\[0\] must be/, field({ shape: [4.5, 6] })],
  ['a size that is NaN', /shape\[0\] must be/, field({ shape: [Number.NaN, 6] })],
  ['a size of 2^32', /shape\[0\] must be below 2\^32/, field({ shape: [2 ** 32, 6] })],
  ['nine axes', /shape must have at most 8 axes/, field({ shape: [1, 1, 1, 1, 1, 1, 1, 4, 6] })],
  ['2^53 points and more', /2\^53/, field({ shape: [2 ** 30, 2 ** 20, 6] })],
  ['rows of 2^32 elements', /folded axes have|2\^32/, field({ shape: [2 ** 16, 2 ** 17], folded: 2 })],
  ['folded forgotten', /folded must say/, field({ folded: undefined })],
  ['folded 0 where there are rows', /folded must say/, field({ folded: 0 })],
  ['more folded axes than there are', /folded 3 exceeds/, field({ folded: 3 })],
  ['a negative folded', /folded must be/, field({ folded: -1 })],
  ['a folded that is text', /folded must be/, field({ folded: '1' })],
  ['a misspelt field', /did you mean shape/, field({ shapes: [4, 6] })],
  ['a field of another op', /has no field/, field({ axis: 1 })],
];

const OPERANDS: readonly Wrong[] = [
  ['inputs that are no record', /inputs must be an object/, field({ inputs: 7 })],
  ['outputs that are no record', /outputs must be an object/, field({ outputs: null })],
  ['no inputs', /inputs\.x/, field({ inputs: undefined })],
  ['no outputs', /outputs\.y/, field({ outputs: undefined })],
  ['an input that is missing', /inputs\.n/, without('inputs', 'n')],
  ['a tensor that is missing', /\bt\b/, without('inputs', 't')],
  ['an output that is missing', /outputs\.s/, without('outputs', 's')],
  ['an input that the kernel does not have', /inputs has no field z/, input('z', () => 0)],
  ['an output that the kernel does not have', /outputs has no field q/, output('q', () => 0)],
  ['a view without a pointer', /inputs\.x/, input('x', () => ({ strides: [6, 1] }))],
  ['a misspelt field of a view', /did you mean strides/, viewed('x', { stride: [6, 1] })],
  ['a pointer that is text', /inputs\.x must be/, input('x', () => '256')],
  ['a pointer that is negative', /inputs\.x.* must be/, input('x', () => -8)],
  ['a pointer of a view that is a fraction', /inputs\.x\.ptr must be/, input('x', () => ({ ptr: 0.5 }))],
  ['a null input', /unknown handle 0/, input('x', () => NULL_PTR)],
  ['a null output', /unknown handle 0/, output('y', () => NULL_PTR)],
  ['a null input to gather from', /unknown handle 0/, input('t', () => ({ ptr: NULL_PTR, shape: [9, 5] }))],
  ['a misaligned input', /inputs\.x must be aligned to 4/, input('x', (ptr) => offsetPtr(ptr, 2))],
  ['a misaligned row', /inputs\.r must be aligned to 4/, input('r', (ptr) => offsetPtr(ptr, 1))],
  ['a misaligned output', /outputs\.s must be aligned to 4/, output('s', (ptr) => offsetPtr(ptr, 3))],
  [
    'a misaligned f16',
    /inputs\.x must be aligned to 2/,
    input('x', (ptr) => ({ ptr: offsetPtr(ptr, 1), dtype: 'f16' })),
  ],
  ['an input out of bounds', /out of bounds/, input('x', (ptr) => offsetPtr(ptr, GUARD + 4))],
  ['a row out of bounds', /out of bounds/, input('r', (ptr) => offsetPtr(ptr, GUARD + 4))],
  ['a tensor out of bounds', /out of bounds/, input('t', (ptr) => ({ ptr, shape: [9, 50] }))],
  ['an output out of bounds', /out of bounds/, output('y', (ptr) => offsetPtr(ptr, GUARD + 4))],
  ['strides out of bounds', /out of bounds/, viewed('x', { strides: [60, 1] })],
  ['an output whose strides are out of bounds', /out of bounds/, output('y', (ptr) => ({ ptr, strides: [6, 60] }))],
  ['a pointer past the end', /unknown handle/, input('x', (ptr) => offsetPtr(ptr, 4096))],
  [
    'an alignment before a handle',
    /outputs\.s must be aligned/,
    (call, ptr) => ({
      ...call,
      inputs: { ...call.inputs, x: NULL_PTR },
      outputs: { ...call.outputs, s: (ptr['s'] as number) + 1 },
    }),
  ],
  [
    'a handle before an overlap',
    /unknown handle 0/,
    (call, ptr) => ({
      ...call,
      inputs: { ...call.inputs, x: NULL_PTR },
      outputs: { ...call.outputs, s: ptr['y'] },
    }),
  ],
];

const VIEWS: readonly Wrong[] = [
  ['a dtype that there is not', /dtype of input x must be one of f32, f16, bf16/, viewed('x', { dtype: 'f64' })],
  ['integers as floats', /dtype of input x must be one of/, viewed('x', { dtype: 'i8' })],
  ['floats as integers', /dtype of input n must be one of i32, i8/, viewed('n', { dtype: 'f16' })],
  ['unsigned as signed', /dtype of input n must be one of/, viewed('n', { dtype: 'u8' })],
  ['an output of another type', /dtype of output y/, output('y', (ptr) => ({ ptr, dtype: 'u32' }))],
  ['too few strides', /strides of input x must have 2/, viewed('x', { strides: [1] })],
  ['too many strides', /strides of input x must have 2/, viewed('x', { strides: [1, 1, 1] })],
  ['strides of an element for a row', /strides of input r must have 1/, viewed('r', { strides: [1, 1] })],
  ['a negative stride', /strides of input x\[0\] must be/, viewed('x', { strides: [-6, 1] })],
  ['a fraction as a stride', /strides of input x\[1\] must be/, viewed('x', { strides: [6, 0.5] })],
  ['strides that are no list', /strides of input x must be/, viewed('x', { strides: 6 })],
  ['an extent of 2^53', /2\^53/, viewed('x', { strides: [2 ** 52, 1] })],
  ['an output that repeats', /may let elements .*coincide/, output('y', (ptr) => ({ ptr, strides: [0, 1] }))],
  ['an output whose rows overlap', /may let elements .*coincide/, output('y', (ptr) => ({ ptr, strides: [5, 1] }))],
  ['an output of equal strides', /may let elements .*coincide/, output('y', (ptr) => ({ ptr, strides: [1, 1] }))],
  ['an output of rows that repeats', /may let elements .*coincide/, output('s', (ptr) => ({ ptr, strides: [0] }))],
  ['a tensor without a shape', /shape of input t/, input('t', (ptr) => ptr)],
  ['a tensor of another rank', /shape of input t must have 2 axes/, viewed('t', { shape: [45] })],
  ['a tensor of a negative size', /shape of input t\[0\]/, viewed('t', { shape: [-9, 5] })],
  ['a tensor of a size of 2^32', /below 2\^32/, viewed('t', { shape: [2 ** 32, 1] })],
];

const OVERLAPS: readonly Wrong[] = [
  [
    'an output one element into an input',
    /outputs\.y overlaps inputs\.x/,
    output('y', (_, { x }) => offsetPtr(x as DevicePtr, 4)),
  ],
  [
    'an output in the place of an input of other strides',
    /overlaps/,
    (call, ptr) => ({
      ...call,
      inputs: { ...call.inputs, x: { ptr: ptr['x'], strides: [1, 4] } },
      outputs: { ...call.outputs, y: ptr['x'] },
    }),
  ],
  [
    'an output in the place of an input of another dtype',
    /overlaps/,
    (call, ptr) => ({
      ...call,
      inputs: { ...call.inputs, x: { ptr: ptr['x'], dtype: 'f16' } },
      outputs: { ...call.outputs, y: ptr['x'] },
    }),
  ],
  [
    'an output in the place of a repeated input',
    /overlaps/,
    (call, ptr) => ({
      ...call,
      inputs: { ...call.inputs, x: { ptr: ptr['x'], strides: [0, 1] } },
      outputs: { ...call.outputs, y: ptr['x'] },
    }),
  ],
  ['an output of rows in the place of an input of rows', /overlaps/, output('s', (_, { r }) => r)],
  ['an output of rows in the place of elements', /overlaps/, output('s', (_, { x }) => x)],
  ['an output in the place of a tensor', /overlaps/, output('y', (_, { t }) => t)],
  [
    'an output in the place of integers and half of them',
    /overlaps/,
    output('y', (_, { n }) => offsetPtr(n as DevicePtr, 48)),
  ],
  ['two outputs at one place', /overlaps/, output('s', (_, { y }) => y)],
  ['an output inside of another', /overlaps/, output('s', (_, { y }) => offsetPtr(y as DevicePtr, 80))],
];

const PARAMS: readonly Wrong[] = [
  ['no parameters', /params/, field({ params: undefined })],
  ['parameters that are no record', /params must be an object/, field({ params: 3 })],
  ['a parameter that is missing', /params\.i must be/, without('params', 'i')],
  ['a parameter that the kernel does not have', /params has no field z/, param('z', 1)],
  ['a parameter that is text', /params\.p must be a number/, param('p', '1')],
  ['a parameter that is a bigint', /params\.u must be/, param('u', 1n)],
  ['a fraction as an i32', /params\.i must be an integer/, param('i', 0.5)],
  ['an i32 of 2^31', /params\.i must be an integer/, param('i', 2 ** 31)],
  ['an i32 below -2^31', /params\.i must be an integer/, param('i', -(2 ** 31) - 1)],
  ['a negative u32', /params\.u must be an integer/, param('u', -1)],
  ['a u32 of 2^32', /params\.u must be an integer/, param('u', 2 ** 32)],
  ['a u32 that is NaN', /params\.u must be an integer/, param('u', Number.NaN)],
];

/** Wrong calls of the sample. */
export const WRONG_CALLS: readonly Wrong[] = [...DOMAIN, ...OPERANDS, ...VIEWS, ...OVERLAPS, ...PARAMS];

import { inReduce, type ReduceRun } from './derived.ts';
import { mutantsOf, type Wrap, bytesBehind, floats, type Mutant } from './mutant.ts';

type Call = ReduceRun;

/** Replaceable parts of a reduction. */
interface Parts {
  /** Index of element `a` of the axis of output (o, i). */
  readonly index?: (o: number, a: number, i: number, call: Call) => number;
  readonly length?: (axisLength: number) => number;
  readonly start?: (right: number, call: Call) => number;
  readonly add?: (sum: number, x: number) => number;
  readonly max?: (x: number, y: number) => number;
  readonly min?: (x: number, y: number) => number;
  readonly finish?: (result: number, call: Call) => number;
}

const IDENTITY = { sum: 0, mean: 0, max: -Infinity, min: Infinity } as const;
const identity = (x: number): number => x;

function naiveReduce(call: Call, parts: Parts): void {
  const { index = (o, a, i) => (o * call.axisLength + a) * call.inner + i, length = identity } = parts;
  const { start = identity, add = (x, y) => x + y, max = Math.max, min = Math.min, finish = identity } = parts;
  const combine = { sum: add, mean: add, max, min }[call.op];
  const input = call.input === undefined ? new Float32Array() : floats(call.input);
  const output = floats(call.output);
  for (let o = 0; o < call.outer; o++) {
    for (let i = 0; i < call.inner; i++) {
      let result = start(IDENTITY[call.op], call);
      const steps = length(call.axisLength);
      for (let a = 0; a < steps; a++) result = combine(result, input[index(o, a, i, call)] as number);
      if (call.op === 'mean') result /= call.axisLength;
      output[o * call.inner + i] = finish(result, call);
    }
  }
}

const loops = (parts: Parts): Wrap => inReduce((call) => naiveReduce(call, parts));
const followed = (tamper: (call: Call, before: Float32Array) => void): Wrap =>
  inReduce((call, run) => {
    const before = floats(call.output).slice();
    run();
    tamper(call, before);
  });
const onlyFor = (op: Call['op'], change: (x: number, call: Call) => number): NonNullable<Parts['finish']> => {
  return (x, call) => (call.op === op ? change(x, call) : x);
};

let calls = 0;

const BUGS: Readonly<Record<string, Wrap>> = {
  'along the last axis, whichever was asked for': loops({
    index: (o, a, i, { inner, axisLength }) => (o * inner + i) * axisLength + a,
  }),
  'along the first axis, whichever was asked for': loops({
    index: (o, a, i, { inner, outer }) => (a * outer + o) * inner + i,
  }),
  'rows taken for outer': loops({ index: (o, a, i, { inner, axisLength }) => (o * axisLength + a) * inner + (i ^ 1) }),
  'mean divided twice': loops({ finish: onlyFor('mean', (x, { axisLength }) => x / axisLength) }),
  'mean of a sum in float32': loops({
    finish: onlyFor('mean', (x, { axisLength }) => Math.fround(x * axisLength) / axisLength),
  }),
  'mean not divided': loops({ finish: onlyFor('mean', (x, { axisLength }) => x * axisLength) }),
  'mean divided by the whole count': loops({ finish: onlyFor('mean', (x, { inner, outer }) => x / (inner * outer)) }),
  'max started at 0': loops({ start: (right, { op, axisLength }) => (op === 'max' && axisLength > 0 ? 0 : right) }),
  'min started at 0': loops({ start: (right, { op, axisLength }) => (op === 'min' && axisLength > 0 ? 0 : right) }),
  'max started at the smallest number, not -Infinity': loops({
    start: (right, { op, axisLength }) => (op === 'max' && axisLength > 0 ? -3.4e38 : right),
  }),
  'min started at the largest number, not Infinity': loops({
    start: (right, { op, axisLength }) => (op === 'min' && axisLength > 0 ? 3.4e38 : right),
  }),
  'max started at the smallest positive number': loops({
    start: (right, { op, axisLength }) => (op === 'max' && axisLength > 0 ? 2 ** -126 : right),
  }),
  'the last element dropped': loops({ length: (length) => Math.max(Math.min(length, 1), length - 1) }),
  'the last element lost when it is the first of a tile': loops({
    length: (length) => (length > 64 && length % 64 === 1 ? length - 1 : length),
  }),
  'an axis longer than 1,024 cut off': loops({ length: (length) => Math.min(length, 1024) }),
  'an axis longer than 65,535 cut off': loops({ length: (length) => Math.min(length, 65_535) }),
  'a running float32 sum': loops({ add: (sum, x) => Math.fround(sum + x) }),
  'max swallows NaN': loops({ max: (x, y) => (y > x ? y : x) }),
  'min swallows NaN': loops({ min: (x, y) => (y < x ? y : x) }),
  'max forgets a NaN that is followed by a number': loops({ max: (x, y) => (x > y ? x : y) }),
  'sum skips NaN': loops({ add: (sum, x) => (Number.isNaN(x) ? sum : sum + x) }),
  'infinities clamped': loops({ add: (sum, x) => sum + Math.min(Math.max(x, -3.4e38), 3.4e38) }),
  'absolute values compared by max': loops({ max: (x, y) => Math.max(x, Math.abs(y)) }),
  'max of an empty axis is 0': loops({
    finish: onlyFor('max', (x, { axisLength }) => (axisLength === 0 ? 0 : x)),
  }),
  'mean of an empty axis is 0': loops({
    finish: onlyFor('mean', (x, { axisLength }) => (axisLength === 0 ? 0 : x)),
  }),
  'an empty axis writes nothing': inReduce((call, run) => {
    if (call.axisLength > 0) run();
  }),
  'outputs from the 65,536th on dropped': followed(({ output }, before) => {
    floats(output).set(before.subarray(65_535), Math.min(65_535, before.length));
  }),
  'the second half of the outer axis dropped when odd': followed(({ output, inner, outer }, before) => {
    const start = before.length - inner;
    if (outer > 8 && outer % 8 === 1) floats(output).set(before.subarray(start), start);
  }),
  'added to what was there': followed(({ op, output }, before) => {
    const values = floats(output);
    for (const [i, old] of before.entries()) if (op === 'sum') (values[i] as number) += old;
  }),
  'input used as scratch': followed(({ input }) => {
    if (input !== undefined) floats(input).fill(0, 0, 1);
  }),
  'written past the end': followed(({ output }) => bytesBehind(output).fill(0, 0, 4)),
  'order of the sum changes from call to call': inReduce((call) => {
    const isOdd = calls++ % 2 === 1;
    const at = (o: number, a: number, i: number): number => (o * call.axisLength + a) * call.inner + i;
    naiveReduce(call, {
      add: (sum, x) => Math.fround(sum + x),
      index: (o, a, i) => at(o, isOdd ? call.axisLength - 1 - a : a, i),
    });
  }),
};

/** Bugs of reduce. */
export const reduceMutants: readonly Mutant[] = mutantsOf('reduce:', ['reduce'], BUGS);

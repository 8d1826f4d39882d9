import type { ResolvedConv2d } from '@concord/backend-core/implement';
import { type Parts, naiveConv } from './naive-conv2d.ts';
import { mutantsOf, type Wrap, bytesBehind, floats, inKernel, type Mutant, roundMantissa } from './mutant.ts';

type Conv = ResolvedConv2d<ArrayBuffer>;

const loops = (parts: Parts): Wrap =>
  inKernel('conv2dForward', (call, run) =>
    call.transposed || call.dtypeFilter !== undefined ? run(call) : naiveConv(call, parts),
  );
const called = (change: (call: Conv) => Partial<Conv>): Wrap =>
  inKernel('conv2dForward', (call, run) => run(call.transposed ? call : { ...call, ...change(call) }));
const followed = (tamper: (call: Conv, before: Float32Array) => void): Wrap =>
  inKernel('conv2dForward', (call, run) => {
    const before = floats(call.output).slice();
    run(call);
    tamper(call, before);
  });

let calls = 0;

const BUGS: Readonly<Record<string, Wrap>> = {
  'a filter of bf16 read as f16': called(({ dtypeFilter }) => (dtypeFilter === 'bf16' ? { dtypeFilter: 'f16' } : {})),
  'a filter of f16 read as bf16': called(({ dtypeFilter }) => (dtypeFilter === 'f16' ? { dtypeFilter: 'bf16' } : {})),
  'stride ignored': called(() => ({ stride: [1, 1] })),
  'stride of height and width swapped': called(({ stride: [h, w] }) => ({ stride: [w, h] })),
  'dilation ignored': called(() => ({ dilation: [1, 1] })),
  'dilation of height and width swapped': called(({ dilation: [h, w] }) => ({ dilation: [w, h] })),
  'padding of height and width swapped': called(({ padding: [h, w] }) => ({ padding: [w, h, w, h] })),
  'padding at the end only': called(() => ({ padding: [0, 0, 0, 0] })),
  'padding at the start only': loops({
    // After the image the rows and columns begin again.
    change: (term, { inputShape: [, , height, width] }) => {
      if (term.y >= height) term.y -= height;
      if (term.x >= width) term.x -= width;
    },
  }),
  'padding repeats the edge': loops({
    change: (term, { inputShape: [, , height, width] }) => {
      term.y = Math.min(Math.max(term.y, 0), height - 1);
      term.x = Math.min(Math.max(term.x, 0), width - 1);
    },
  }),
  'columns outside read the neighbouring row': loops({
    outside: (input, index) => input[index] ?? 0,
  }),
  'groups ignored': loops({ change: (term) => (term.channel = term.c) }),
  'groups interleaved': loops({
    change: (term, { groups, outputShape: [, filters] }) => {
      const group = Math.floor(term.k / (filters / groups));
      term.channel = term.c * groups + group;
    },
  }),
  'depthwise reads the channel of a neighbour': loops({
    change: (term, { groups, inputShape: [, channels] }) => {
      if (groups === channels && groups > 1) term.channel = (term.channel + 1) % channels;
    },
  }),
  'filter flipped': loops({
    change: (term, { filterShape: [, , rows, columns] }) => {
      term.r = rows - 1 - term.r;
      term.s = columns - 1 - term.s;
    },
  }),
  'filter flipped in one direction': loops({
    change: (term, { filterShape: [, , , columns] }) => (term.s = columns - 1 - term.s),
  }),
  'filter transposed': loops({
    change: (term, { filterShape: [, , rows, columns] }) => {
      if (rows === columns) [term.r, term.s] = [term.s, term.r];
    },
  }),
  'channels of a filter reversed': loops({
    change: (term, { filterShape: [, channels] }) => (term.c = channels - 1 - term.c),
  }),
  'every image is the first': loops({ change: (term) => (term.n = 0) }),
  'the last channel dropped when there are more than 8': loops({
    change: (term, { filterShape: [, channels] }) => {
      if (channels > 8 && term.c === channels - 1) term.y = -1e9;
    },
  }),
  'the last filter lost when it is the first of a tile': followed((call, before) => {
    const [batch, filters, rows, columns] = call.outputShape;
    if (filters <= 16 || filters % 16 !== 1) return;
    for (let n = 0; n < batch; n++) {
      const start = ((n + 1) * filters - 1) * rows * columns;
      floats(call.output).set(before.subarray(start, start + rows * columns), start);
    }
  }),
  'images from the 65,536th on dropped': followed((call, before) => {
    const [batch] = call.outputShape;
    const start = (before.length / batch) * 65_535;
    if (batch > 65_535) floats(call.output).set(before.subarray(start), start);
  }),
  'inputs rounded to tf32': loops({ element: roundMantissa(10) }),
  'NaN counts as 0': loops({ element: (x) => (Number.isNaN(x) ? 0 : x) }),
  'written past the end': followed(({ output }) => bytesBehind(output).fill(0, 0, 4)),
  'input used as scratch': followed(({ input }) => floats(input).fill(0, 0, 1)),
  'filter used as scratch': followed(({ filter }) => floats(filter).fill(0, -1)),
  'added to what was there': followed((call, before) => {
    const output = floats(call.output);
    for (const [i, old] of before.entries()) (output[i] as number) += old;
  }),
  'not deterministic': followed(({ output }) => {
    // One ulp, every other call, where integers do not show it.
    const values = floats(output);
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (const [i, x] of values.entries()) if (calls % 2 === 1 && !Number.isInteger(x)) (bits[i] as number) ^= 1;
    calls++;
  }),
};

/** Bugs of transposed convolutions alone. */
const transposed = (change: (call: Conv) => Partial<Conv>): Wrap =>
  inKernel('conv2dForward', (call, run) => run(call.transposed ? { ...call, ...change(call) } : call));

const TRANSPOSED_BUGS: Readonly<Record<string, Wrap>> = {
  'transposed: stride of height and width swapped': transposed(({ stride: [h, w] }) => ({ stride: [w, h] })),
  'transposed: dilation ignored': transposed(() => ({ dilation: [1, 1] })),
  'transposed: padding of the end at the start': transposed(({ padding: [top, left, bottom, right] }) => ({
    padding: [bottom, right, top, left],
  })),
  'transposed: every group is the first': followed((call) => {
    const [batch, filters, rows, columns] = call.outputShape;
    const size = (filters / call.groups) * rows * columns;
    const output = floats(call.output);
    if (!call.transposed) return;
    for (let group = 1; group < call.groups * batch; group++) output.copyWithin(group * size, 0, size);
  }),
  'transposed: the last row and column are left as they were': followed((call, before) => {
    const [, , rows, columns] = call.outputShape;
    if (!call.transposed || rows < 2) return;
    const output = floats(call.output);
    for (let i = 0; i < output.length; i++) {
      if (i % columns === columns - 1 || Math.floor(i / columns) % rows === rows - 1) output[i] = before[i] as number;
    }
  }),
  'transposed: outputs without terms are left as they were': followed((call, before) => {
    const [, , , columns] = call.outputShape;
    const [, stride] = call.stride;
    if (!call.transposed || stride <= call.filterShape[3] * call.dilation[1]) return;
    const output = floats(call.output);
    for (let i = 0; i < output.length; i++) {
      if (output[i] === 0 && (i % columns) % stride > 0) output[i] = before[i] as number;
    }
  }),
};

/** Bugs of conv2dForward. */
export const conv2dMutants: readonly Mutant[] = mutantsOf('conv2dForward:', ['conv2dForward'], {
  ...BUGS,
  ...TRANSPOSED_BUGS,
});

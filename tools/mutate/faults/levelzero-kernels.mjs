// @ts-check

const kernelsCuts = 'packages/backend-levelzero/src/kernels/work.ts';
const kernelsOpPlan = 'packages/backend-levelzero/src/kernels/op-plan.ts';
const kernelsConv2dLayout = 'packages/backend-levelzero/src/kernels/conv2d/wide.ts';
const kernelsGemmSplits = 'packages/backend-levelzero/src/kernels/gemm/table.ts';
const kernelsGemmReusedScratch = 'packages/backend-levelzero/src/kernels/gemm/table.ts';
const kernelsConv2dDirectSpv = 'packages/backend-levelzero/src/kernels/conv2d/direct.spv.ts';
const kernelsAttentionTable = 'packages/backend-levelzero/src/kernels/attention/table.ts';
const kernelsAttentionWide = 'packages/backend-levelzero/src/kernels/attention/wide.ts';

/** Faults of the Level Zero backend's kernels and their plans.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const levelZeroKernelFaults = [
  {
    file: kernelsCuts,
    find: 'left - least : Math.min(size, left);',
    replace: 'left - least : size;',
    breaks: 'The last piece of a cut is longer than what is left.',
  },
  {
    file: kernelsCuts,
    find: 'left > size && left < size + least',
    replace: 'left > size && left < size',
    breaks: 'The last piece of a cut is shorter than a kernel can take.',
  },
  {
    file: kernelsOpPlan,
    find: 'alignment: 4,',
    replace: 'alignment: 1,',
    breaks: 'A call whose operand is aligned to 1 byte runs with a plan for 4.',
  },
  {
    file: kernelsConv2dLayout,
    find: 'Math.floor(((filterShape[3] - 1) * dilation[1]) / stride[1])',
    replace: 'Math.floor((filterShape[3] - 1) / stride[1])',
    breaks: 'With dilation 2 the copy of the input lacks what the filter reaches.',
  },
  {
    file: kernelsConv2dLayout,
    find: 'phases(filterShape[3], stride[1], dilation[1])',
    replace: 'phases(filterShape[3], stride[0], dilation[1])',
    breaks: 'With stride 2 on one axis only the phases of both are those of the rows.',
  },
  {
    file: kernelsConv2dLayout,
    find: '(tap * (dilation % stride)) % stride',
    replace: 'tap % stride',
    breaks: 'With stride 3 and dilation 2 a phase of the input is missing.',
  },
  {
    file: kernelsConv2dLayout,
    find: 'size === (index < 2 ? 1 : 0)',
    replace: 'index >= 4 || size === (index < 2 ? 1 : 0)',
    breaks: 'A padded input is read as if it were not.',
  },
  {
    file: kernelsGemmSplits,
    find: "end: k.math('u_min', k.add(begin, args.depth), args.k),",
    replace: 'end: k.add(begin, args.depth),',
    breaks: 'The last split of a product reads beyond the depth.',
  },
  {
    file: kernelsGemmSplits,
    find: 'k.mul(split, args.c_split)',
    replace: 'k.mul(batch, args.c_split)',
    breaks: 'Splits of a product write to one place.',
  },
  {
    file: kernelsGemmReusedScratch,
    find: 'before !== undefined && before.span.byteLength >= bytes;',
    replace: 'before !== undefined;',
    breaks: 'Scratch memory that is too small is used again.',
  },
  {
    file: kernelsGemmReusedScratch,
    find: 'contents !== undefined && before.contents === contents',
    replace: 'contents !== undefined',
    breaks: 'What was packed for one operand is used for another.',
  },
  {
    file: kernelsConv2dDirectSpv,
    find: 'const isInside = k.and(isRow, k.ult(x, args.width));',
    replace: 'const isInside = k.and(isRow, k.ult(x, k.add(args.width, 1)));',
    breaks: 'A convolution reads the first element of the next row as if it were beyond the right edge.',
  },
  {
    file: kernelsConv2dDirectSpv,
    find: 'const x = k.add(left, k.mul(s, args.dilation_w));',
    replace: 'const x = k.add(left, s);',
    breaks: 'Dilation along columns is ignored.',
  },
  {
    file: kernelsConv2dDirectSpv,
    find: 'k.when(k.ult(filter, args.filters), () => {',
    replace: 'k.when(k.ult(filter, k.add(args.filters, 1)), () => {',
    breaks: 'The last filters of a block that is not full are stored over others.',
  },
  {
    file: kernelsConv2dDirectSpv,
    find: 'k.mul(k.umod(within, args.output_width), args.stride_w)',
    replace: 'k.mul(k.umod(within, args.output_width), args.stride_h)',
    breaks: 'With stride 2 on one axis only, both axes take it.',
  },
  {
    file: kernelsConv2dDirectSpv,
    find: 'k.udiv(k.add(args.places, DIRECT_LANES - 1), DIRECT_LANES);',
    replace: 'k.udiv(k.add(args.places, DIRECT_LANES - 2), DIRECT_LANES);',
    breaks: 'The last places of a convolution are not computed.',
  },
  {
    file: kernelsAttentionTable,
    find: 'const first = (head * call.kvHeads) / call.heads;',
    replace: 'const first = head;',
    breaks: 'With grouped heads a later piece takes the keys of other heads.',
  },
  {
    file: kernelsAttentionTable,
    find: 'Math.max(1, Math.min(call.seqKv, call.seqQ - 1 + end));',
    replace: 'Math.max(1, Math.min(call.seqKv, call.seqQ - 2 + end));',
    breaks: 'The last key that a causal query sees is left out.',
  },
  {
    file: kernelsAttentionTable,
    find: 'recorder.scratch(4 * splits * rows * record)',
    replace: 'recorder.scratch(4 * (splits - 1) * rows * record)',
    breaks: 'Scratch memory for the results of splits is one split too small.',
  },
  {
    file: kernelsAttentionTable,
    find: 'gridOf(Math.ceil((rows * headDim) / COMBINE_LANES), recorder.traits)',
    replace: 'gridOf(Math.max(1, Math.floor((rows * headDim) / COMBINE_LANES)), recorder.traits)',
    breaks: 'The last rows of a split attention are not combined.',
  },
  {
    file: kernelsAttentionWide,
    find: 'value_pitch: isPadded ? PADDED_COLUMNS : headDim,',
    replace: 'value_pitch: headDim,',
    breaks: 'Padded values are taken with the row length of those that are not.',
  },
];

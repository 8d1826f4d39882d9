// @ts-check

const kernelsAttention = 'packages/backend-cpu/src/kernels/attention.ts';
const kernelsConv2d = 'packages/backend-cpu/src/kernels/conv2d.ts';
const kernelsTopK = 'packages/backend-cpu/src/kernels/top-k.ts';
const kernelsGemm = 'packages/backend-cpu/src/kernels/gemm.ts';
const cpuBackend = 'packages/backend-cpu/src/cpu-backend.ts';

/** Faults of the CPU backend's kernels and of the oracle.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const backendCpuFaults = [
  {
    file: kernelsAttention,
    find: 'Math.max(0, place - window + 1)',
    replace: 'Math.max(0, place - window)',
    breaks: 'A window shows one key too many.',
  },
  {
    file: kernelsAttention,
    find: 'Math.min(keys, place + 1)',
    replace: 'Math.min(keys, place)',
    breaks: 'A causal query does not see its own key.',
  },
  {
    file: kernelsAttention,
    find: 'Math.floor((h * kvHeads) / heads)',
    replace: 'h % kvHeads',
    breaks: 'Heads of K serve the wrong heads of Q.',
  },
  {
    file: kernelsAttention,
    find: 'h * maskHead + query * maskQuery;',
    replace: 'h * maskHead;',
    breaks: 'The mask of the first query is added for all of them.',
  },
  {
    file: kernelsAttention,
    find: 'softcap * Math.tanh(',
    replace: 'Math.tanh(',
    breaks: 'The softcap is not multiplied back.',
  },
  {
    file: kernelsAttention,
    find: 'first >= end || (largest === -Infinity && mask !== undefined);',
    replace: 'first >= end;',
    breaks: 'A query that a mask leaves without a key gives NaN.',
  },
  {
    file: kernelsConv2d,
    find: 'Math.ceil(-offset / strideWidth)',
    replace: 'Math.floor(-offset / strideWidth)',
    breaks: 'A convolution with padding and stride 2 reads the row above at its left edge.',
  },
  {
    file: kernelsConv2d,
    find: 's * dilationWidth - left;',
    replace: 's - left;',
    breaks: 'A filter with dilation 2 looks at neighbouring pixels.',
  },
  {
    file: kernelsConv2d,
    find: 'Math.ceil((reach - offset)',
    replace: 'Math.floor((reach - offset)',
    breaks: 'A convolution with stride 2 lacks a pixel at its right edge.',
  },
  {
    file: kernelsConv2d,
    find: 'row >= 0 && row < height && ',
    replace: 'row >= 0 && row <= height && ',
    breaks: 'The row below the image is read.',
  },
  {
    file: kernelsConv2d,
    find: 'Math.floor(k / filtersPerGroup) * groupChannels',
    replace: 'Math.floor(k / filtersPerGroup)',
    breaks: 'The second group reads the channels of the first.',
  },
  {
    file: kernelsTopK,
    find: '(keys[middle] as number) >= key',
    replace: '(keys[middle] as number) > key',
    breaks: 'Of equal elements the last one comes first.',
  },
  {
    file: kernelsTopK,
    find: 'return magnitude > INFINITY ? MAGNITUDE : bits',
    replace: 'return magnitude > INFINITY ? 0 : bits',
    breaks: 'NaN is less than infinity.',
  },
  {
    file: kernelsTopK,
    find: '  if (magnitude === 0) return 0;',
    replace: '',
    breaks: 'Zero and minus zero differ.',
  },
  {
    file: kernelsGemm,
    find: 'p * depthB + column * columnB;',
    replace: 'p * depthB + column;',
    breaks: 'The columns of a transposed B are read as if it were not.',
  },
  {
    file: kernelsGemm,
    find: 'beta === 0 ? product : product + beta * old()',
    replace: 'product + beta * old()',
    breaks: 'C is read where beta is 0, so that NaN in it stays.',
  },
  {
    file: cpuBackend,
    find: 'readsOutput ? floatsOf(output, dtype) : new Float32Array(own.length)',
    replace: 'new Float32Array(own.length)',
    breaks: 'With beta, f16 and an epilogue the output before is taken for 0.',
  },
];

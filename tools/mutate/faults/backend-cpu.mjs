// @ts-check

const kernelsAttention = 'packages/backend-cpu/src/kernels/attention.ts';
const kernelsConv2dRows = 'packages/backend-cpu/src/kernels/conv2d-rows.ts';
const kernelsConv2dWindow = 'packages/backend-cpu/src/kernels/conv2d-window.ts';
const kernelsTopK = 'packages/backend-cpu/src/kernels/top-k.ts';
const kernelsMatrixVector = 'packages/backend-cpu/src/kernels/matrix-vector.ts';
const kernelsFinish = 'packages/backend-cpu/src/kernels/finish.ts';
const kernelsStore = 'packages/backend-cpu/src/kernels/store.ts';
const kernelsPack = 'packages/backend-cpu/src/kernels/pack.ts';

/** Faults of the CPU backend's kernels and of the oracle.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const backendCpuFaults = [
  {
    file: kernelsAttention,
    find: 'visibleKeys(call, query + queries - 1);',
    replace: 'visibleKeys(call, query);',
    breaks: 'The last query block takes the keys that the first one sees.',
  },
  {
    file: kernelsAttention,
    find: 'Math.max(0, place - window + 1)',
    replace: 'Math.max(0, place - window)',
    breaks: 'A window shows one key too many.',
  },
  {
    file: kernelsAttention,
    find: 'Math.min(seqKv, place + 1)',
    replace: 'Math.min(seqKv, place)',
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
    find: '(tile.query + r) * queryStride + tile.key * keyStride;',
    replace: '(tile.query + r) * queryStride;',
    breaks: 'The mask of the first tile of keys is added to all of them.',
  },
  {
    file: kernelsAttention,
    find: '    totals[r] = (totals[r] as number) * factor;',
    replace: '',
    breaks: 'The sums of the tiles before are not scaled when a larger score turns up.',
  },
  {
    file: kernelsAttention,
    find: 'scores[j] = softcap * Math.tanh(',
    replace: 'scores[j] = Math.tanh(',
    breaks: 'The softcap is not multiplied back.',
  },
  {
    file: kernelsAttention,
    find: 'from >= until || (total === 0 && call.maskStrides !== undefined);',
    replace: 'from >= until;',
    breaks: 'A query that a mask leaves without a key gives NaN.',
  },
  {
    file: kernelsAttention,
    find: 'if ((firstOfLast > 0 || endOfFirst < keys) && rowsHaveNonFinite',
    replace: 'if (firstOfLast > 0 && rowsHaveNonFinite',
    breaks: 'A NaN in a value that no query sees spreads.',
  },
  {
    file: kernelsAttention,
    find: '    if (first || headDim > BLOCK_DEPTH) packPanels',
    replace: '    if (first) packPanels',
    breaks: "Queries of more than one depth block keep the first block's columns.",
  },
  {
    file: kernelsAttention,
    find: '      if (j < first || j >= end) continue;',
    replace: '      if (j < first) continue;',
    breaks: 'Infinite values that not all queries see become NaN for the others.',
  },
  {
    file: kernelsConv2dRows,
    find: 'Math.ceil(-(row.left + s * row.dilation) / row.stride)',
    replace: 'Math.floor(-(row.left + s * row.dilation) / row.stride)',
    breaks: 'A depthwise convolution with padding reads the row above at its left edge.',
  },
  {
    file: kernelsConv2dRows,
    find: '(row.width - row.left - s * row.dilation) / row.stride',
    replace: '(row.width - row.left - s) / row.stride',
    breaks: 'A depthwise convolution with dilation 2 reads the next row at its right edge.',
  },
  {
    file: kernelsConv2dRows,
    find: 'Math.ceil((row.width - row.left',
    replace: 'Math.floor((row.width - row.left',
    breaks: 'A depthwise convolution with stride 2 lacks a pixel at its right edge.',
  },
  {
    file: kernelsConv2dRows,
    find: '(input[from + 2 * dilation] as number)',
    replace: '(input[from + 1 + dilation] as number)',
    breaks: 'The third tap of a dilated row reads the place of the second.',
  },
  {
    file: kernelsConv2dRows,
    find: 'left: x * call.stride[1] - call.padding[1],',
    replace: 'left: x - call.padding[1],',
    breaks: 'Rows wider than a strip are computed from their beginning.',
  },
  {
    file: kernelsConv2dRows,
    find: 'if (row < 0 || row >= height) continue;',
    replace: 'if (row < 0 || row > height) continue;',
    breaks: 'The row below the image is read.',
  },
  {
    file: kernelsConv2dWindow,
    find: 'Math.min(columns, width - left)',
    replace: 'Math.min(columns, width - left - 1)',
    breaks: 'The last column of an image is taken for padding.',
  },
  {
    file: kernelsConv2dWindow,
    find: '      for (let x = end; x < columns; x++) window[to + x] = 0;',
    replace: '',
    breaks: 'A window at the right edge keeps what was in memory before.',
  },
  {
    file: kernelsTopK,
    find: '(this.#places[at] as number) > place',
    replace: '(this.#places[at] as number) < place',
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
    file: kernelsMatrixVector,
    find: 'let from = start + i * rowStride + p * depthStride;',
    replace: 'let from = start + p * depthStride;',
    breaks: 'Rows beyond the first block are not computed.',
  },
  {
    file: kernelsMatrixVector,
    find: 'loadVector(vector, startX + p * strideX, strideX, depthCount);',
    replace: 'loadVector(vector, startX, strideX, depthCount);',
    breaks: 'A long vector is multiplied by its beginning again and again.',
  },
  {
    file: kernelsMatrixVector,
    find: '    sums.fill(0, 0, rowCount);',
    replace: '    if (i === 0) sums.fill(0, 0, rowCount);',
    breaks: 'The sums of one block go on from those of the block before.',
  },
  {
    file: kernelsFinish,
    find: 'return isRead ? Float32Array.from(fromF16Array(halves)) : new Float32Array(halves.length);',
    replace: 'return new Float32Array(halves.length);',
    breaks: 'With beta and f16 the output before is taken for 0.',
  },
  {
    file: kernelsStore,
    find: 'beta === 0 ? product : product + beta',
    replace: 'product + beta',
    breaks: 'C is read where beta is 0, so that NaN in it stays.',
  },
  {
    file: kernelsPack,
    find: 'packAcross(planes, decoded, 0, vectors, vectors, depth, offset);',
    replace: 'packAcross(planes, decoded, 0, depth, vectors, depth, offset);',
    breaks: 'The last panels of f16 operands that are not transposed hold those of others.',
  },
];

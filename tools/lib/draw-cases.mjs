// @ts-check
// Conformance cases with shapes of all sizes, drawn to find those for which a rarely chosen kernel is chosen.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './paths.mjs';

const core = join(root, 'packages/backend-core/dist/kernel/index.js');
const { defineKernel } = await import(pathToFileURL(core).href);

/**
 * @typedef {object} DrawnCase
 * @property {string} id of a conformance case: an exact id need not be among the listed cases
 * @property {'gemm' | 'batchedGemm' | 'gemmF16' | 'attention' | 'conv2dForward' | 'topK' | 'reduce' | 'unary'} op
 * @property {Record<string, unknown>} call without pointers
 */

/** Numbers in [0, 1), the same in every run. (mulberry32) @param {number} seed */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The oracle checks this many multiplications in a fraction of a second. */
export const MAX_WORK = 1.5e8;

/** @typedef {(random: () => number, mostWork: number) => DrawnCase | undefined} Draw */

const COPY = defineKernel('copy', { inputs: { acc: 'f32' } }, (/** @type {any} */ { acc }) => ({ y: acc }));

/** The functions that draw cases, by the rooms of kernels that their plans are made of. @type {Record<string, Draw[]>} */
const DRAWS = {
  gemm: [drawProduct, drawWeights],
  attention: [drawAttention],
  conv2d: [drawConv2d],
  'top-k': [drawTopK],
  run: [drawReduce, drawUnary],
};

/**
 * One case, or undefined where it would take more multiplications than that: for a kernel of one of these rooms, the first parts of their names, if that
 * is among those that cases are drawn for; else of any op.
 *
 * @param {() => number} random @param {readonly string[]} rooms @param {number} mostWork @returns {DrawnCase | undefined}
 */
export function drawCase(random, rooms, mostWork) {
  const known = rooms.filter((room) => room in DRAWS);
  const draws = (known.length === 0 ? Object.keys(DRAWS) : known).flatMap((room) => DRAWS[room] ?? []);
  return oneOf(random, draws)(random, mostWork);
}

/** A size up to `most`, small ones as likely as large ones. @param {() => number} random @param {number} most */
const size = (random, most) => Math.max(1, Math.round(most ** random()));

/** @template T @param {() => number} random @param {readonly T[]} values @returns {T} */
const oneOf = (random, values) => /** @type {T} */ (values[Math.floor(random() * values.length)]);

/** @type {Draw} */
function drawProduct(random, mostWork) {
  const [m, n, k] = [size(random, 2000), size(random, 2000), size(random, 20_000)];
  const batch = random() < 0.3 ? size(random, 40) : 0;
  if (m * n * k * Math.max(1, batch) > mostWork) return undefined;
  const trans = oneOf(random, ['NN', 'NT', 'TN', 'TT']);
  const [transA = 'N', transB = 'N'] = trans;
  const isHalf = random() < 0.5;
  const beta = oneOf(random, [0, 0.5]);
  const pad = oneOf(random, [0, 3]);
  const [lda, ldb] = [(transA === 'N' ? k : m) + pad, (transB === 'N' ? n : k) + pad];
  const call = { m, n, k, transA, transB, beta, lda, ldb };
  const pads = pad === 0 ? '' : `,padA=${pad},padB=${pad}`;
  const text = `m=${m},n=${n},k=${k}${trans === 'NN' ? '' : `,${trans}`}${beta === 0 ? '' : `,beta=${beta}`}${pads}`;
  if (batch > 0) {
    const [rowsA, rowsB] = [transA === 'N' ? m : k, transB === 'N' ? k : n];
    const strides = { strideA: lda * rowsA, strideB: ldb * rowsB, strideC: m * n, batchCount: batch };
    const dtype = isHalf ? 'f16' : 'f32';
    if (isHalf && random() < 0.5) {
      // The product is in float32 first.
      const id = `batchedGemm/epilogue/${text},dtype=f16,batch=${batch},epilogue=copy`;
      return { id, op: 'batchedGemm', call: { ...call, ...strides, dtype, epilogue: { kernel: COPY } } };
    }
    const id = `batchedGemm/bounded/${text}${isHalf ? ',dtype=f16' : ''},batch=${batch}`;
    return { id, op: 'batchedGemm', call: { ...call, ...strides, dtype } };
  }
  return isHalf
    ? { id: `gemmF16/bounded/${text}`, op: 'gemmF16', call }
    : { id: `gemm/bounded/${text}`, op: 'gemm', call };
}

/** A few rows by a B of a type of its own. @type {Draw} */
function drawWeights(random) {
  const [m, n, k] = [oneOf(random, [1, 3]), size(random, 60), 8 * size(random, 20)];
  const dtype = oneOf(random, ['f32', 'f16', 'f16']);
  const dtypeB = oneOf(random, [dtype === 'f32' ? 'f16' : 'f32', 'bf16', 'i8', 'u4']);
  const isQuant = dtypeB === 'i8' || dtypeB === 'u4';
  const [scales, zeros] = [oneOf(random, ['f32', 'f16']), oneOf(random, ['none', 'own', 'offsets'])];
  const quantB = {
    block: 32,
    scales: { dtype: scales },
    ...(zeros === 'none' ? {} : zeros === 'own' ? { zeros: {} } : { offsets: {} }),
  };
  // The product is in float32 first.
  const isCopied = dtype === 'f16' && random() < 0.5;
  const fields = [
    ...(dtype === 'f32' ? [] : [`dtype=${dtype}`]),
    `dtypeB=${dtypeB}`,
    ...(isQuant && scales === 'f16' ? ['scales=f16'] : []),
    ...(isQuant && zeros !== 'none' ? [`zeros=${zeros}`] : []),
    ...(isCopied ? ['epilogue=copy'] : []),
  ];
  const strides = { strideA: m * k, strideB: n * k, strideC: m * n, batchCount: 1 };
  const call = { m, n, k, transB: 'T', ...strides, dtype, dtypeB, ...(isQuant ? { quantB } : {}) };
  const id = `batchedGemm/${isCopied ? 'epilogue' : 'bounded'}/m=${m},n=${n},k=${k},NT,${fields.join()}`;
  return { id, op: 'batchedGemm', call: { ...call, ...(isCopied ? { epilogue: { kernel: COPY } } : {}) } };
}

/** @type {Draw} */
function drawAttention(random, mostWork) {
  const [batch, heads, seqQ, seqKv] = [1, size(random, 8), size(random, 600), size(random, 6000)];
  const headDim = oneOf(random, [8, 32, 64, 100, 128, 200, 256]);
  if (batch * heads * seqQ * seqKv * headDim > mostWork) return undefined;
  const causal = random() < 0.3;
  // Either takes the kernels for any call, or those whose lengths are in memory.
  const capped = random() < 0.5 ? { softcap: 3 } : {};
  const isPlaced = random() < 0.5;
  const hasSums = random() < 0.3;
  const dtypeKv = isPlaced && random() < 0.2 ? { dtypeKv: 'bf16' } : {};
  const fields = [
    ...('softcap' in capped ? [',softcap=3'] : []),
    ...(causal ? [',causal'] : []),
    ...(isPlaced ? [',lengths=each'] : []),
    ...(hasSums ? [',lse'] : []),
    ...('dtypeKv' in dtypeKv ? [',dtypeKv=bf16'] : []),
  ].join('');
  const sizes = `heads=${heads},seqQ=${seqQ},seqKv=${seqKv},headDim=${headDim}${fields}`;
  const scale = 1 / Math.sqrt(headDim);
  const views = { ...(isPlaced ? { lengths: { strides: [1] } } : {}), ...(hasSums ? { lse: {} } : {}) };
  const call = { batch, heads, seqQ, seqKv, headDim, scale, causal, ...capped, ...views, ...dtypeKv };
  return { id: `attention/bounded/${sizes}`, op: 'attention', call };
}

/** @type {Draw} */
function drawConv2d(random, mostWork) {
  const [n, c, h, w] = [size(random, 3), size(random, 200), size(random, 60), size(random, 60)];
  const [filters, r] = [size(random, 200), oneOf(random, [1, 3])];
  const [p, q] = [h - r + 1, w - r + 1];
  if (p < 1 || q < 1 || n * c * filters * p * q * r * r > mostWork) return undefined;
  const call = {
    inputShape: [n, c, h, w],
    filterShape: [filters, c, r, r],
    outputShape: [n, filters, p, q],
    stride: [1, 1],
    padding: [0, 0],
  };
  return {
    id: `conv2dForward/bounded/input=${n}x${c}x${h}x${w},filter=${filters}x${r}x${r}`,
    op: 'conv2dForward',
    call,
  };
}

/** @type {Draw} */
function drawTopK(random, mostWork) {
  const [rows, columns] = [size(random, 3000), size(random, 1_000_000)];
  const k = Math.min(columns, size(random, 256));
  if (rows * columns > mostWork / 50) return undefined;
  return { id: `topK/exact/rows=${rows},columns=${columns},k=${k}`, op: 'topK', call: { rows, columns, k } };
}

/** @type {Draw} */
function drawReduce(random, mostWork) {
  const shape = [size(random, 300), size(random, 100_000), oneOf(random, [1, 2, 4, 8, 16, 100])];
  if (shape.reduce((product, each) => product * each) > mostWork) return undefined;
  const op = oneOf(random, ['sum', 'max', 'min', 'mean']);
  const fn = op === 'sum' ? '' : `fn=${op},`;
  return { id: `reduce/bounded/${fn}shape=${shape.join('x')},axis=1`, op: 'reduce', call: { op, shape, axis: 1 } };
}

/** @param {() => number} random @returns {DrawnCase} */
function drawUnary(random) {
  const op = oneOf(random, ['relu', 'sigmoid', 'tanh', 'exp', 'log', 'sqrt', 'abs', 'neg', 'gelu', 'silu']);
  const n = size(random, 10_000);
  return { id: `unary/accuracy/fn=${op},n=${n}`, op: 'unary', call: { op, n } };
}

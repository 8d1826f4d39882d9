import { WEIGHT_BITS, type WeightDType } from '@concord/backend-core';
import { BYTES_OF } from '@concord/backend-core/implement';
import { decodeStep } from '@concord/kernel';
import { slice } from '../operands.ts';
import type { DeviceTraits, Recorder, Span } from '../recorder.ts';
import { planRun } from '../run/plan-run.ts';
import { BLOCKS, bytesOfPanel, type Part, partOf, type Product, type Weights } from './product.ts';

/** A product, and its weights. */
export type WeightProduct = Product & { readonly weights: Weights };

/** The pieces of a product, along the batch and n, whose B can be decoded into memory that fits a binding. */
export function* decodablePieces(product: WeightProduct, traits: DeviceTraits): Generator<WeightProduct> {
  const { m, n, k, batchCount, a, weights } = product;
  const max = bytesOfPanel(traits) / BYTES_OF[a.dtype];
  // Rows of what is decoded are padded to 8.
  const most = Math.max(1, Math.floor(max / (k + 8)));
  const columns = n <= most ? n : Math.max(1, most - (most % 8));
  const batches = weights.stride === 0 ? batchCount : Math.max(1, Math.floor(max / ((n + 8) * (k + 8))));
  for (let batch = 0; batch < batchCount; batch += batches) {
    for (let column = 0; column < n; column += columns) {
      const size = { batchCount: Math.min(batches, batchCount - batch), m, n: Math.min(columns, n - column), k };
      if (size.batchCount === batchCount && size.n === n) yield product;
      else yield pieceOf(product, { batch, row: 0, column, depth: 0, ...size });
    }
  }
}

function pieceOf(product: WeightProduct, part: Part): WeightProduct {
  const { weights, transB, k } = product;
  const { batch, column, batchCount, n } = part;
  const { dtype, span, ld, stride, quant } = weights;
  const [rows, columns] = transB ? [n, k] : [k, n];
  const first = batch * stride + column * (transB ? ld : 1);
  const last = first + (batchCount - 1) * stride + (rows - 1) * ld + columns - 1;
  const blocks = BLOCKS.flatMap((name) => {
    const view = quant?.[name];
    if (quant === undefined || view === undefined) return [];
    const [inBatch, inRow, inBlock] = view.strides;
    const start = batch * inBatch + column * inRow;
    const end = start + (batchCount - 1) * inBatch + (n - 1) * inRow + (quant.blocks - 1) * inBlock;
    return [[name, range(weights.blocks[name] as Span, view.dtype, start, end)] as const];
  });
  return {
    ...partOf(product, part),
    weights: { ...weights, span: range(span, dtype, first, last), blocks: Object.fromEntries(blocks) },
  };
}

/** The bytes of the elements from one to another. */
function range(span: Span, dtype: WeightDType, first: number, last: number): Span {
  const start = Math.floor((first * WEIGHT_BITS[dtype]) / 8);
  return slice(span, start, Math.ceil(((last + 1) * WEIGHT_BITS[dtype]) / 8) - start);
}

/** The same product of a B in the dtype of A, which is written to scratch memory first: to `memory`, if it is large enough. */
export function decoded(product: WeightProduct, recorder: Recorder, memory?: Span): Product {
  const { n, k, batchCount, transB, a, weights } = product;
  const { dtype: dtypeB, ld: ldb, stride: strideB, quant: quantB, span, blocks } = weights;
  const step = decodeStep({ n, k, batchCount, transB, dtype: a.dtype, dtypeB, ldb, strideB, quantB });
  const fits = memory !== undefined && memory.byteLength >= step.bytes;
  const b = fits ? { ...memory, byteLength: step.bytes } : recorder.scratch(step.bytes);
  const inputs = step.inputs.map((name) =>
    name === 'b' ? span : blocks[name.slice('quantB.'.length) as keyof Weights['blocks']],
  );
  planRun({ geometry: step.geometry, inputs, outputs: [b], params: [], inPlace: [false] }, recorder);
  const { ldb: ld, strideB: stride } = step.call;
  return { ...product, weights: undefined, b: { span: b, dtype: a.dtype, ld, stride: batchCount === 1 ? 0 : stride } };
}

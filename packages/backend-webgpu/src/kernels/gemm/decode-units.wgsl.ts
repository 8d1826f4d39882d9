import { type FloatDType, WEIGHT_BITS } from '@concord/backend-core';
import { blockShift, FORMS_OF_INTEGERS, ofType, type WeightForm, weightFormOf } from '@concord/variants';
import { defineKernel, type Kernel, mainOf, variants } from '../kernel.ts';
import { bindable } from '../operands.ts';
import type { Recorder, Span } from '../recorder.ts';
import type { WeightProduct } from './plan.ts';
import type { KernelTable } from './product.ts';
import { HALVES_OF_FOUR } from './storage-formats.ts';
import { areBindable, blockUniforms } from './weight-rows.ts';
import { decodedWord, integerConstants, scaledWeight } from './integer-words.wgsl.ts';
import { BLOCK_UNIFORMS, blockFunctions, blockStorage } from './weight-rows.wgsl.ts';

/** Elements that an invocation decodes. */
const UNIT = 8;
/** Invocations of a workgroup. */
const LANES = 256;

interface DecodeUnitsParams extends WeightForm {
  readonly weights: 'u8' | 'u4';
  readonly output: FloatDType;
}

/** Writes the weights that integers stand for, packed, {@link UNIT} neighbours of a row an invocation. */
const decodeUnits: (params: DecodeUnitsParams) => Kernel = variants((params: DecodeUnitsParams) => {
  const { weights, scales, zeros, output } = params;
  const isWord = weights === 'u4';
  const zero = zeros === 'own' ? 'z' : 'u.zero_of_all';
  const [low, high] = (isWord ? ['words'] : ['words.x', 'words.y'])
    .flatMap((word) => decodedWord(weights, word, zero))
    .map((text) => scaledWeight(zeros, text));
  const store =
    output === 'f32'
      ? `c[2u * index] = ${low};\n  c[2u * index + 1u] = ${high};`
      : `c[index] = vec4u(halves_of_four(${low}), halves_of_four(${high}));`;
  return defineKernel({
    name: `gemm/decode ${output} ${weights} ${scales} ${zeros}`,
    storage: {
      a: { access: 'read', type: isWord ? 'array<u32>' : 'array<vec2u>' },
      ...blockStorage(params),
      c: { access: 'read_write', type: output === 'f32' ? 'array<vec4f>' : 'array<vec4u>' },
    },
    // Units of a row, and of the whole; rows of a matrix.
    uniforms: { ...ofType('u32', 'units count rows a_start a_stride a_ld'), ...BLOCK_UNIFORMS },
    code: /* wgsl */ `
${output === 'f16' ? HALVES_OF_FOUR : ''}
${blockFunctions(params)}

${mainOf(LANES)}
  let index = group_index(id, grid) * ${LANES}u + lane;
  if (index >= u.count) { return; }
  let all_rows = index / u.units;
  let p = index - all_rows * u.units;
  var batch = 0u;
  if (all_rows >= u.rows) { batch = all_rows / u.rows; }
  let row = all_rows - batch * u.rows;
  let block = p >> u.block_shift;
  let words = a[u.a_start + batch * u.a_stride + row * u.a_ld + p];
  let s = scales_at(u.s_start + batch * u.s_batch + row * u.s_row + block * u.s_block);
${zeros === 'one' ? '' : '  let z = zeros_at(u.z_start + batch * u.z_batch + row * u.z_row + block * u.z_block);'}
${integerConstants(weights)}
  ${store}
}`,
  });
});

/** Kernels that decode integers by units. */
export const decodeUnitsTable: KernelTable = {
  ids: [],
  kernelsFor: () =>
    FORMS_OF_INTEGERS.flatMap((form) => (['f32', 'f16'] as const).map((output) => decodeUnits({ ...form, output }))),
};

/** Writes the weights of a product packed to memory; returns whether they are integers whose rows and blocks are whole units. */
export function launchDecodeUnits(product: WeightProduct, to: Span, recorder: Recorder): boolean {
  const { n, k, batchCount, a, transB, weights } = product;
  const { dtype, span, ld, stride, quant } = weights;
  if (quant === undefined || !transB || !areBindable(product, recorder.traits)) return false;
  const shift = blockShift(quant.block, k, UNIT);
  const bound = bindable(span, recorder.traits.storageAlignment);
  const start = (bound.byteOffset * 8) / WEIGHT_BITS[dtype];
  const batches = stride === 0 ? 1 : batchCount;
  if (shift === undefined || [k, start, ld, stride].some((count) => count % UNIT !== 0)) return false;
  const blocks = blockUniforms(product, (each, of) => {
    const { span: whole, byteOffset } = bindable(each, recorder.traits.storageAlignment);
    return { span: whole, start: (byteOffset * 8) / WEIGHT_BITS[of] };
  });
  const count = (batches * n * k) / UNIT;
  recorder.launch({
    kernel: decodeUnits({ ...weightFormOf(dtype, quant), output: a.dtype } as DecodeUnitsParams),
    storage: { a: bound.span, ...blocks.storage, c: to },
    uniforms: {
      units: k / UNIT,
      count,
      rows: n,
      a_start: start / UNIT,
      a_stride: stride / UNIT,
      a_ld: ld / UNIT,
      ...blocks.uniforms,
      block_shift: shift,
    },
    groups: Math.ceil(count / LANES),
  });
  return true;
}

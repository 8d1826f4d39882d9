import { withEpilogue } from '../epilogue/epilogue-code.ts';
import { kernelOfGraph } from '../run/kernels-of-graph.ts';
import type { RunSpec } from '../run/run-spec.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { repeat } from '../wgsl/repeat.ts';
import { storeC } from '../wgsl/store-c.ts';
import { matrixUnitsSide } from './matrix-units-side.ts';
import {
  BLOCK,
  BLOCK_VECTORS,
  blocksOf,
  LINE,
  type MatrixUnitsFit,
  matrixUnitsInvocations,
  type MatrixUnitsTile,
  stripBlocks,
  SUBGROUP,
  UNIT,
} from './matrix-units-tile.ts';
import { nameOf, type OperandParams, PART_OF_GROUP, PRODUCT_UNIFORMS } from './product-kernel.ts';
import { outputType, storeFunction } from './storage-formats.ts';

/** Parameters of {@link matrixUnits}. Inputs are f16. */
export interface MatrixUnitsParams extends Omit<OperandParams, 'input'> {
  readonly tile: MatrixUnitsTile;
  readonly fit: MatrixUnitsFit;
}

/** Strips that are in workgroup memory at a time. */
const STRIPS = 2;

/** Rows of tiles that are worked on together, column by column, so that the groups that run at a time share B as well as A. */
const BAND = 16;

/**
 * `C = alpha op(A) op(B) + beta C` for A and B in f16 on the matrix units of the GPU ("tensor cores"), which multiply f16 exactly and
 * sum in float32. Tiling as in CUTLASS: a workgroup computes a tile of C, each of its subgroups a piece of that as
 * matrices of 16 x 16 sums, which stay in registers.
 *
 * Step by step along k two strips of A and of B are brought to workgroup memory; {@link matrixUnitsSide} has their
 * layout. The next ones are read to registers before the arithmetic, so that memory works meanwhile. At the end the sums go through
 * the same workgroup memory, 16 rows at a time, because only the device knows which invocation holds which of them.
 *
 * Beyond C and beyond k, zeros are read. Rows begin and end at multiples of eight elements.
 */
export const matrixUnits: (params: MatrixUnitsParams) => Kernel = variants((params: MatrixUnitsParams) =>
  matrixUnitsKernel(params),
);

/** {@link matrixUnits} with an epilogue in it. */
export function matrixUnitsWith(params: MatrixUnitsParams, epilogue: RunSpec): Kernel {
  return kernelOfGraph('gemm/matrix', { ...epilogue, ...params }, () => matrixUnitsKernel(params, epilogue));
}

function matrixUnitsKernel(params: MatrixUnitsParams, epilogue?: RunSpec): Kernel {
  const { output, transA, transB, tile, fit } = params;
  const { m, n, step, subgroupM, subgroupN } = tile;
  const threads = matrixUnitsInvocations(tile);
  const blocksA = m / BLOCK;
  const blocks = stripBlocks(tile);
  const shared = { threads, fit };
  const a = matrixUnitsSide({ ...shared, name: 'a', count: 'u.m', size: m, piece: subgroupM, alongK: !transA });
  const b = matrixUnitsSide({ ...shared, name: 'b', count: 'u.n', size: n, piece: subgroupN, alongK: transB });
  const [rows, columns] = [subgroupM / UNIT, subgroupN / UNIT];

  const products = /* wgsl */ `
${repeat(rows, (i) => `      let a${i} = ${a.load(i * UNIT, 'piece_row', 'place')};`)}
${repeat(columns, (j) => `      let b${j} = ${b.load(j * UNIT, 'piece_column', `place + ${blocksA}u`)};`)}
${repeat(columns, (j) =>
  repeat(rows, (i) => `      c${i}_${j} = subgroupMatrixMultiplyAccumulate(a${i}, b${j}, c${i}_${j});`),
)}`;
  const read = repeat(
    STRIPS,
    (strip) => `${a.read(strip)}
${b.read(strip)}
    p += ${UNIT}u;
${a.advance('p < end')}
${b.advance('p < end')}`,
  );
  const store = repeat(
    STRIPS,
    (strip) => `${a.store(strip, strip * blocks)}\n${b.store(strip, strip * blocks + blocksA)}`,
  );
  const checks = fit === 'full' ? [] : ['row < u.m', 'first_column + four * 4u < u.n'];
  const place = epilogue === undefined ? [] : ['batch', 'row', 'first_column + four * 4u'];
  const acc = `bitcast<vec4f>(strips[place + four / 4u][line * ${LINE}u + four % 4u])`;
  const storeRows = (i: number): string => /* wgsl */ `
${repeat(columns, (j) => `  subgroupMatrixStore<row_major>(&strips[place + ${j}u], 0u, c${i}_${j}, ${LINE}u);`)}
  workgroupBarrier();
  for (var slot = lane % ${SUBGROUP}u; slot < ${UNIT * (subgroupN / 4)}u; slot += ${SUBGROUP}u) {
    let line = slot / ${subgroupN / 4}u;
    let four = slot % ${subgroupN / 4}u;
    let row = first_row + ${i * UNIT}u + line;
    let at = (c_start + row * u.c_ld + first_column) / 4u + four;
    ${storeC({ by: 'store_c', at: 'at', place, acc, checks })}
  }
  workgroupBarrier();`;

  return defineKernel(
    withEpilogue(epilogue, {
      name: `gemm/matrix ${nameOf({ ...params, input: 'f16' })} ${m}x${n}x${step} ${subgroupM}x${subgroupN} ${fit}`,
      storage: {
        a: { access: 'read', type: 'array<vec4u>' },
        b: { access: 'read', type: 'array<vec4u>' },
        c: { access: 'read_write', type: outputType(output, true) },
      },
      uniforms: PRODUCT_UNIFORMS,
      features: ['f16', 'subgroups', 'chromium_experimental_subgroup_matrix'],
      // Blocks are the same throughout a subgroup, but made of the number of the invocation, of which WGSL does not know that.
      silenced: ['chromium.subgroup_matrix_uniformity'],
      code: /* wgsl */ `
${storeFunction(output, true, epilogue)}
var<workgroup> strips: array<array<vec4u, ${BLOCK_VECTORS}>, ${blocksOf(tile)}>;

@compute @workgroup_size(${threads})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
${PART_OF_GROUP}
  let band = tile / (${BAND}u * u.tiles_n);
  let band_rows = min(${BAND}u, u.tiles / u.tiles_n - band * ${BAND}u);
  let band_tile = tile % (${BAND}u * u.tiles_n);
  let tile_row = band * ${BAND}u + band_tile % band_rows;
  let tile_column = band_tile / band_rows;

  let subgroup = lane / ${SUBGROUP}u;
  let piece_row = subgroup / ${n / subgroupN}u;
  let piece_column = subgroup % ${n / subgroupN}u;
${a.declare('tile_row')}
${b.declare('tile_column')}
${repeat(rows, (i) => repeat(columns, (j) => `  var c${i}_${j} = subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>();`))}
${repeat(STRIPS, (strip) => `${a.declareSet(strip)}\n${b.declareSet(strip)}`)}
  var p = begin;
${read}
  // A step that is no constant, not to be unrolled.
  for (var done = begin; done < end; done += ${step}u + u.zero) {
${store}
${read}
    workgroupBarrier();
    // A loop, so that reads do not go after the products where bounds are not checked.
    for (var strip = 0u; strip < ${STRIPS}u; strip++) {
      let place = strip * ${blocks}u;${products}
    }
    workgroupBarrier();
  }

  let first_row = tile_row * ${m}u + piece_row * ${subgroupM}u;
  let first_column = tile_column * ${n}u + piece_column * ${subgroupN}u;
  let c_start = u.c_start + batch * u.c_stride + split * u.c_split;
  let place = subgroup * ${columns}u;
${repeat(rows, storeRows)}
}`,
    }),
  );
}

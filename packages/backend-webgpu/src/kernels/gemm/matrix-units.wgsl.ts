import { withEpilogue } from '../epilogue/epilogue-code.ts';
import { kernelOfGraph } from '../run/kernels-of-graph.ts';
import type { RunSpec } from '../run/run-spec.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { repeat } from '../wgsl/repeat.ts';
import { storeC } from '../wgsl/store-c.ts';
import { APART, matrixUnitsSide } from './matrix-units-side.ts';
import {
  type MatrixUnitsFit,
  matrixUnitsInvocations,
  type MatrixUnitsTile,
  resultLine,
  stripShape,
  SUBGROUP,
  UNIT,
  vectorsOf,
} from './matrix-units-tile.ts';
import { nameOf, type OperandParams, PART_OF_GROUP, PRODUCT_UNIFORMS } from './product-kernel.ts';
import { outputType, storeFunction } from './storage-formats.ts';

/** Parameters of {@link matrixUnits}. Inputs are f16. */
export interface MatrixUnitsParams extends Omit<OperandParams, 'input'> {
  readonly tile: MatrixUnitsTile;
  readonly fit: MatrixUnitsFit;
}

/** Rows of tiles that are worked on together, column by column, so that the groups that run at a time share B as well as A. */
const BAND = 16;

/**
 * `C = alpha op(A) op(B) + beta C` for A and B in f16 on the matrix units of the GPU ("tensor cores"), which multiply f16 exactly and
 * sum in float32. Tiling as in CUTLASS: a workgroup computes a tile of C, each of its subgroups a piece of that as
 * matrices of 16 x 16 sums, which stay in registers.
 *
 * Step by step along k a strip of A and a strip of B are brought to workgroup memory; {@link matrixUnitsSide} has their
 * layout. The next strips are read to registers before the arithmetic, so that memory works meanwhile; the arithmetic is a loop
 * that is not unrolled, because a compiler moves reads behind what is. At the end the sums go through the same workgroup
 * memory, 16 rows at a time, because only the device knows which invocation holds which of them.
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
  const shared = { step, threads, fit };
  const stripA = stripShape(m, !transA, step);
  const a = matrixUnitsSide({ ...shared, name: 'a', count: 'u.m', size: m, alongK: !transA, place: 0 });
  const b = matrixUnitsSide({
    ...shared,
    name: 'b',
    count: 'u.n',
    size: n,
    alongK: transB,
    place: stripA.line * stripA.lines,
  });
  const [rows, columns] = [subgroupM / UNIT, subgroupN / UNIT];

  const products = /* wgsl */ `
    for (var iteration = 0u; iteration < ${step / UNIT}u; iteration++) {
${repeat(rows, (i) => `      let a${i} = ${a.load(i * UNIT, 'piece_row')};`)}
${repeat(columns, (j) => `      let b${j} = ${b.load(j * UNIT, 'piece_column')};`)}
${repeat(columns, (j) =>
  repeat(rows, (i) => `      c${i}_${j} = subgroupMatrixMultiplyAccumulate(a${i}, b${j}, c${i}_${j});`),
)}
    }`;
  const line = resultLine(tile);
  const checks = fit === 'full' ? [] : ['row < u.m', 'first_column + four * 4u < u.n'];
  const place = epilogue === undefined ? [] : ['batch', 'row', 'first_column + four * 4u'];
  const acc = `bitcast<vec4f>(strips[place + line * ${line}u + four])`;
  const storeRows = (i: number): string => /* wgsl */ `
${repeat(columns, (j) => `  subgroupMatrixStore<row_major>(&strips, place + ${j * 4}u, c${i}_${j}, ${line}u);`)}
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
      // Offsets are the same throughout a subgroup, but made of the number of the invocation, of which WGSL does not know that.
      silenced: ['chromium.subgroup_matrix_uniformity'],
      code: /* wgsl */ `
${storeFunction(output, true, epilogue)}
${APART}
var<workgroup> strips: array<vec4u, ${vectorsOf(tile, transA, transB)}>;

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
  let piece_row = (subgroup / ${n / subgroupN}u) * ${subgroupM}u;
  let piece_column = (subgroup % ${n / subgroupN}u) * ${subgroupN}u;
${a.declare('tile_row')}
${b.declare('tile_column')}
${repeat(rows, (i) => repeat(columns, (j) => `  var c${i}_${j} = subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>();`))}

  var p = begin;
${a.read}
${b.read}
  while (p < end) {
${a.store}
${b.store}
    workgroupBarrier();
    p += ${step}u;
${a.advance('p < end')}
${b.advance('p < end')}
${a.read}
${b.read}
${products}
    workgroupBarrier();
  }

  let first_row = tile_row * ${m}u + piece_row;
  let first_column = tile_column * ${n}u + piece_column;
  let c_start = u.c_start + batch * u.c_stride + split * u.c_split;
  let place = subgroup * ${UNIT * line}u;
${repeat(rows, storeRows)}
}`,
    }),
  );
}

import type { DType } from '@concord/backend-core';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits } from '../recorder.ts';
import { DIRECT_TILES, MATVEC_GROUPS, possibleTiles } from './choose-variant.ts';
import { direct } from './direct.wgsl.ts';
import { f16RoundTrip } from './f16-round-trip.wgsl.ts';
import { finish } from './finish.wgsl.ts';
import { matvecColumns } from './matvec-columns.wgsl.ts';
import type { MatvecGroup } from './matvec-kernel.ts';
import { matvecRows } from './matvec-rows.wgsl.ts';
import type { OperandParams } from './product-kernel.ts';
import { scale } from './scale.wgsl.ts';
import { matrixUnitsTiles } from './matrix-units.ts';
import { type MatrixUnitsFit, matrixUnits } from './matrix-units.wgsl.ts';
import { outputFormat } from './storage-formats.ts';
import { type Fit, tiled } from './tiled.wgsl.ts';

const BOTH = [false, true] as const;
const FITS: readonly Fit[] = ['full', 'wide', 'any'];

/** Every kernel that a gemm on such a device may need. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  const formats = formatsOn(traits);
  const operands = formats.flatMap((format) =>
    BOTH.flatMap((transA) => BOTH.map((transB): OperandParams => ({ ...format, transA, transB }))),
  );
  const tiles = traits.isSoftware ? [] : possibleTiles(traits);
  const products =
    tiles.length > 0
      ? operands.flatMap((params) => tiles.flatMap(({ tile }) => FITS.map((fit) => tiled({ ...params, tile, fit }))))
      : operands.flatMap((params) =>
          DIRECT_TILES.flatMap((tile) => BOTH.map((wide) => direct({ ...params, ...tile, wide }))),
        );
  const { software, ...gpu } = MATVEC_GROUPS;
  const groups = tiles.length > 0 ? gpu : { rows: software, columns: software };
  const fits = ({ lanes, team }: MatvecGroup): boolean => lanes * team <= traits.maxInvocations;
  const vectors = formats.flatMap((format) =>
    BOTH.flatMap((wide) => [
      ...groups.rows.filter(fits).map((group) => matvecRows({ ...format, wide, group })),
      ...groups.columns.filter(fits).map((group) => matvecColumns({ ...format, wide, group })),
    ]),
  );
  const outputs = DTYPES.map((dtype) => outputFormat(dtype, traits));
  return [
    ...products,
    ...onMatrixUnits(traits),
    ...vectors,
    ...outputs.flatMap((output) => [finish({ output }), scale({ output })]),
    ...(traits.hasF16 ? [f16RoundTrip] : []),
  ];
}

function onMatrixUnits(traits: DeviceTraits): readonly Kernel[] {
  const fits: readonly MatrixUnitsFit[] = ['full', 'edges'];
  return matrixUnitsTiles(traits).flatMap((tile) =>
    DTYPES.flatMap((output) =>
      BOTH.flatMap((transA) =>
        BOTH.flatMap((transB) => fits.map((fit) => matrixUnits({ output, transA, transB, tile, fit }))),
      ),
    ),
  );
}

const DTYPES: readonly DType[] = ['f32', 'f16'];

/** Storage of inputs and results: results of f16 may be sums in float32. */
function formatsOn({ hasF16 }: DeviceTraits): readonly Pick<OperandParams, 'input' | 'output'>[] {
  const always = DTYPES.map((input) => ({ input, output: 'f32' as const }));
  return hasF16 ? [...always, { input: 'f16', output: 'f16' }] : always;
}

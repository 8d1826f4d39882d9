import type { FloatDType } from '@concord/backend-core';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits } from '../recorder.ts';
import { lanesToAskFor } from '../subgroups.ts';
import { possibleTiles } from './choose-variant.ts';
import { direct, type OperandFormats } from './direct.spv.ts';
import { finish } from './finish.spv.ts';
import { local } from './local.spv.ts';
import { matrix } from './matrix.spv.ts';
import { columnsOf } from './matrix-engine.ts';
import { matrixPack } from './matrix-pack.spv.ts';
import type { MatvecFormats } from './matvec.ts';
import { pack } from './pack.spv.ts';
import { subgroup } from './subgroup.spv.ts';
import { possibleSubgroupTiles } from './subgroup-tiles.ts';
import { teamColumns } from './team-columns.spv.ts';
import { teamRows } from './team-rows.spv.ts';
import { wide } from './wide.spv.ts';
import { wideColumns } from './wide-columns.spv.ts';
import { wideRows } from './wide-rows.spv.ts';

const BOTH = [false, true] as const;
const DTYPES: readonly FloatDType[] = ['f32', 'f16'];

/** Storage of inputs and results: results of f16 may be sums in float32. */
const FORMATS: readonly OperandFormats[] = [
  { input: 'f32', output: 'f32' },
  { input: 'f16', output: 'f32' },
  { input: 'f16', output: 'f16' },
];

/** Every kernel that a gemm on such a device may need. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  const own = traits.isCpuLike ? kernelsForProcessors() : kernelsForGpus(traits);
  const outputs = DTYPES.map((output) => finish({ output }));
  return [...own, ...FORMATS.map(direct), ...outputs];
}

function kernelsForProcessors(): Kernel[] {
  const plain = FORMATS.map((formats): MatvecFormats => ({ ...formats, matrix: formats.input, vector: formats.input }));
  // Vectors with gaps are packed first, in float32.
  const gathered = FORMATS.filter(({ input }) => input === 'f16').map(({ output }): MatvecFormats => ({
    matrix: 'f16',
    vector: 'f32',
    output,
  }));
  const packs = DTYPES.flatMap((input) =>
    ([8, 32] as const).flatMap((width) => BOTH.map((alongK) => pack({ input, width, alongK }))),
  );
  return [
    ...DTYPES.map((output) => wide({ output })),
    ...packs,
    ...DTYPES.map((input) => pack({ input, width: 1, alongK: false })),
    ...[...plain, ...gathered].flatMap(({ matrix, vector, output }) =>
      ([1, 4] as const).map((each) => wideRows({ matrix, vector, output, each })),
    ),
    ...plain.flatMap(({ matrix, vector, output }) =>
      ([1, 4, 16] as const).map((vectors) => wideColumns({ matrix, vector, output, vectors })),
    ),
  ];
}

function kernelsForGpus(traits: DeviceTraits): Kernel[] {
  const tiles = possibleTiles(traits);
  const lanes = lanesToAskFor(traits);
  const ofFormats = FORMATS.flatMap((formats) => {
    const { input, output } = formats;
    const tiled = tiles.flatMap((tile) =>
      BOTH.flatMap((transA) => BOTH.map((transB) => local({ ...formats, transA, transB, tile, lanes }))),
    );
    const subgroups =
      input === 'f16' && !traits.hasF16
        ? []
        : possibleSubgroupTiles(traits).flatMap((tile) =>
            BOTH.map((transA) => subgroup({ ...formats, ...tile, transA })),
          );
    const vectors = { matrix: input, vector: input, output };
    return [...tiled, ...subgroups, teamRows(vectors), teamColumns(vectors)];
  });
  return [...ofFormats, ...kernelsForMatrixEngine(traits)];
}

function kernelsForMatrixEngine({ matrixEngine: lanes }: DeviceTraits): Kernel[] {
  if (lanes === undefined) return [];
  const packs = (['rows', columnsOf(lanes)] as const).flatMap((block) =>
    BOTH.map((hasWords) => matrixPack({ block, hasWords })),
  );
  return [...packs, ...DTYPES.map((output) => matrix({ lanes, output }))];
}

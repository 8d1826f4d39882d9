import type { Kernel } from '../kernel.ts';
import type { DeviceTraits } from '../recorder.ts';
import {
  type AttentionVariant,
  DECODE_COLUMNS,
  DECODE_ROWS,
  decodeKernel,
  type DecodeTile,
  DIRECT_QUERIES,
  fitsDevice,
  FLASH_TILES,
  hasRoomToDecode,
  matrixTiles,
  possibleTiled,
  TILED_COLUMNS,
  writesRows,
} from './choose-variant.ts';
import { combine, slotsAtOnce } from './combine.wgsl.ts';
import { direct } from './direct.wgsl.ts';
import { flash } from './flash.wgsl.ts';
import { type Form, FORMS } from './form.wgsl.ts';
import { matrix } from './matrix.wgsl.ts';
import { tiled } from './tiled.wgsl.ts';

/** Every kernel of attention that can be chosen for a device. */
export function attentionKernels(traits: DeviceTraits): readonly Kernel[] {
  const both = [false, true] as const;
  const merging = [
    combine({ form: 'plain', partial: true, atOnce: 16 }),
    ...FORMS.map((form) => combine({ form, partial: false, atOnce: 16 })),
    ...FORMS.map((form) => combine({ form, partial: false, atOnce: slotsAtOnce(form, 1) })),
  ];
  const ways = FORMS.flatMap((form) => both.map((partial) => ({ form, partial })));
  const isMade = (kind: AttentionVariant['kind'], { form, partial }: (typeof ways)[number], wide: boolean): boolean =>
    partial || writesRows({ kind }, form, wide);
  if (traits.isSoftware) {
    const directs = ways.filter((way) => isMade('direct', way, false));
    return [
      ...merging,
      ...DIRECT_QUERIES.flatMap((queries) =>
        directs.flatMap((way) =>
          (way.form === 'plain' ? both : [true]).map((causal) => direct({ queries, causal, ...way })),
        ),
      ),
    ];
  }
  const fits = ['full', 'wide', 'any'] as const;
  const tiles = FLASH_TILES.filter((tile) => fitsDevice(tile, traits));
  return [
    ...merging,
    ...matrixTiles(traits).flatMap((tile) =>
      (['full', 'wide'] as const).flatMap((fit) => both.map((partial) => matrix({ tile, fit, partial }))),
    ),
    ...ways.flatMap((way) => [
      ...fits
        .filter((fit) => isMade('flash', way, fit !== 'any'))
        .flatMap((fit) => tiles.map((tile) => flash({ tile, fit, ...way }))),
      ...possibleTiled(traits)
        .filter(() => isMade('tiled', way, false))
        .flatMap((queries) => TILED_COLUMNS.map((headDim) => tiled({ queries, headDim, ...way }))),
      ...decodeKernels(way, traits),
    ]),
  ];
}

function decodeKernels(
  { form, partial }: { readonly form: Form; readonly partial: boolean },
  traits: DeviceTraits,
): readonly Kernel[] {
  if (form === 'plain') return [];
  return DECODE_ROWS.flatMap((rows) => DECODE_COLUMNS.map((columns): DecodeTile => ({ rows, columns })))
    .filter((tile) => hasRoomToDecode(tile, traits))
    .flatMap((tile) =>
      (['full', 'wide', 'any'] as const)
        .filter((fit) => partial || writesRows({ kind: 'decode' }, form, fit !== 'any'))
        .map((fit) => decodeKernel(tile, { form, fit, partial })),
    );
}

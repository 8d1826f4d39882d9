import type { FloatDType } from '@concord/backend-core';
import type { ModuleBuilder } from '../../encoder/index.ts';
import { STORAGE_SHIFT } from '../common/float-storage.ts';
import { type MicroKernel, microKernel, TILE_COLUMNS, TILE_ROWS } from '../gemm/micro-kernel.ts';
import { type PackPanels, packPanels } from '../gemm/pack-panels.ts';
import { type StoreTile, storeTile } from '../gemm/store-tile.ts';
import type { WasmTraits } from '../kernel.ts';
import { type ScoreForm, type SoftmaxRow, softmaxRow } from './softmax-row.ts';
import { type AddVisible, addVisible, type HasNonFinite, hasNonFinite } from './visible-values.ts';

/** The functions of a module that a tile of attention calls, and what they were made for. */
export interface AttentionFunctions {
  /** log2 of the bytes of an element. */
  readonly shift: 1 | 2;
  readonly form: ScoreForm;
  readonly multiply: MicroKernel;
  readonly packQueries: PackPanels;
  /** Of keys, and of values. */
  readonly packColumns: PackPanels;
  readonly packWeights: PackPanels;
  readonly softmaxRow: SoftmaxRow;
  readonly hasNonFinite: HasNonFinite;
  readonly addVisible: AddVisible;
  readonly store: StoreTile;
}

export function attentionFunctions(
  module: ModuleBuilder,
  traits: WasmTraits,
  dtype: FloatDType,
  form: ScoreForm,
): AttentionFunctions {
  const packQueries = packPanels(module, TILE_ROWS, dtype);
  return {
    shift: STORAGE_SHIFT[dtype],
    form,
    multiply: microKernel(module, traits),
    packQueries,
    packColumns: packPanels(module, TILE_COLUMNS, dtype),
    packWeights: dtype === 'f32' ? packQueries : packPanels(module, TILE_ROWS, 'f32'),
    softmaxRow: softmaxRow(module, traits, form),
    hasNonFinite: hasNonFinite(module),
    addVisible: addVisible(module, traits),
    store: storeTile(module, dtype),
  };
}

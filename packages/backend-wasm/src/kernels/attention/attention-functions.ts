import type { FloatDType } from '@concord/backend-core';
import type { ModuleBuilder } from '../../encoder/index.ts';
import { STORAGE_SHIFT } from '../common/float-storage.ts';
import { type MicroKernel, microKernel, TILE_COLUMNS, TILE_ROWS } from '../gemm/micro-kernel.ts';
import { type PackPanels, packPanels } from '../gemm/pack-panels.ts';
import { type StoreTile, storeTile } from '../gemm/store-tile.ts';
import { type LoadVector, loadVector } from '../gemm/load-vector.ts';
import { addDots, addScaledRows, type VectorLoop } from '../gemm/vector-loops.ts';
import type { WasmTraits } from '../kernel.ts';
import { type ScoreForm, type SoftmaxRow, softmaxRow } from './softmax-row.ts';
import { type AddVisible, addVisible, type HasNonFinite, hasNonFinite } from './visible-values.ts';

/** Functions that any tile of attention calls, and the form that they were made for. */
export interface TileFunctions {
  /** log2 of the bytes of an element. */
  readonly shift: 1 | 2;
  readonly form: ScoreForm;
  readonly softmaxRow: SoftmaxRow;
  readonly store: StoreTile;
}

/** Functions for a tile of several queries. */
export interface BlockFunctions extends TileFunctions {
  readonly multiply: MicroKernel;
  readonly packQueries: PackPanels;
  /** Of keys, and of values. */
  readonly packColumns: PackPanels;
  readonly packWeights: PackPanels;
  readonly hasNonFinite: HasNonFinite;
  readonly addVisible: AddVisible;
}

/** Functions for a tile of one query. */
export interface OneQueryFunctions extends TileFunctions {
  readonly loadVector: LoadVector;
  readonly addDots: VectorLoop;
  readonly addScaledRows: VectorLoop;
}

type Make<Functions> = (module: ModuleBuilder, traits: WasmTraits, dtype: FloatDType, form: ScoreForm) => Functions;

const tileFunctions: Make<TileFunctions> = (module, traits, dtype, form) => ({
  shift: STORAGE_SHIFT[dtype],
  form,
  softmaxRow: softmaxRow(module, traits, form),
  store: storeTile(module, dtype),
});

export const blockFunctions: Make<BlockFunctions> = (module, traits, dtype, form) => {
  const packQueries = packPanels(module, TILE_ROWS, dtype);
  return {
    ...tileFunctions(module, traits, dtype, form),
    multiply: microKernel(module, traits),
    packQueries,
    packColumns: packPanels(module, TILE_COLUMNS, dtype),
    packWeights: dtype === 'f32' ? packQueries : packPanels(module, TILE_ROWS, 'f32'),
    hasNonFinite: hasNonFinite(module),
    addVisible: addVisible(module, traits),
  };
};

export const oneQueryFunctions: Make<OneQueryFunctions> = (module, traits, dtype, form) => ({
  ...tileFunctions(module, traits, dtype, form),
  loadVector: loadVector(module, dtype),
  addDots: addDots(module, traits, dtype),
  addScaledRows: addScaledRows(module, traits, dtype),
});

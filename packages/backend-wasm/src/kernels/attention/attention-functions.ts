import type { StoredFloatDType, FloatDType } from '@concord/backend-core';
import { log } from '@concord/kernel';
import { f32x4, type FunctionHandle, i32, type ModuleBuilder, v128 } from '../../encoder/index.ts';
import { type Vector, WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import { HoistedConstants } from '../common/hoisted-constants.ts';
import { multiplyAdd } from '../common/integers.ts';
import {
  type LoadVector,
  loadVector,
  type MicroKernel,
  microKernel,
  type StoreTile,
  storeTile,
  TILE_COLUMNS,
  TILE_ROWS,
} from '../gemm/micro-kernel.ts';
import type { WasmTraits } from '../kernel.ts';
import { STORAGE_SHIFT } from '../common/float-storage.ts';
import { type PackPanels, packPanels } from '../gemm/pack-panels.ts';
import { addDots, addScaledRows, type VectorLoop } from '../gemm/vector-dots.ts';
import { type PlaceForm, type ScoreForm, type SoftmaxRow, softmaxRow } from './softmax-row.ts';

/** `(values, end)`: see {@link hasNonFinite}. */
type HasNonFinite = FunctionHandle<readonly ['i32', 'i32'], 'i32'>;

/** Adds the function that says whether any float32 of some whole vectors is infinite or NaN. */
function hasNonFinite(module: ModuleBuilder): HasNonFinite {
  return module.function({ params: ['i32', 'i32'], result: 'i32' }, (body, values, end) => {
    const found = body.let(f32x4.splat(0));
    body.while(i32.ne(values, end), () => {
      const value = body.let(v128.load(values));
      // A number less itself is 0; infinity and NaN are NaN.
      body.set(found, f32x4.add(found, f32x4.sub(value, value)));
      body.increase(values, 16);
    });
    body.return(v128.anyTrue(f32x4.ne(found, found)));
  });
}

type Logarithm = FunctionHandle<readonly ['f32'], 'f32'>;

/** Adds the function of a number's natural logarithm. */
function logarithm(module: ModuleBuilder, traits: WasmTraits): Logarithm {
  return module.function({ params: ['f32'], result: 'f32' }, (body, x) => {
    const a = new WasmArithmetic(body, new HoistedConstants(body), traits.hasFma);
    body.return(f32x4.extractLane(log<Vector>(a, a.keep(f32x4.splat(x))), 0));
  });
}

/** `(outputs, outputBytes, weights, values, keys, first, end)`: see {@link addVisible}. */
type AddVisible = FunctionHandle<readonly ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'], 'none'>;

/**
 * Adds the function that adds to a row of outputs the weighted values of the keys from `first` to before `end`, and of no others:
 * 0 times an infinite value of a key that is not seen would be NaN. Values are panels over `keys` keys.
 */
function addVisible(module: ModuleBuilder, traits: WasmTraits): AddVisible {
  const madd = multiplyAdd(traits);
  return module.function(
    { params: ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'], result: 'none' },
    (body, outputs, outputBytes, weights, values, keys, first, end) => {
      body.for(0, outputBytes, 4 * TILE_COLUMNS, (column) => {
        const at = body.let(i32.add(outputs, column));
        const [low, high] = [body.let(v128.load(at)), body.let(v128.load(at, 16))];
        const value = body.let(i32.add(values, i32.add(i32.mul(keys, column), i32.mul(first, 4 * TILE_COLUMNS))));
        body.for(first, end, 1, (key) => {
          const weight = body.let(v128.load32Splat(i32.add(weights, i32.shl(key, 2))));
          body.set(low, madd(weight, v128.load(value), low));
          body.set(high, madd(weight, v128.load(value, 16), high));
          body.increase(value, 4 * TILE_COLUMNS);
        });
        body.emit(v128.store(at, low), v128.store(at, high, 16));
      });
    },
  );
}

/** The differences between the codes of calls. */
export interface AttentionForm extends ScoreForm, PlaceForm {
  readonly hasLse: boolean;
  readonly dtypeKv: StoredFloatDType;
}

/** Functions that any tile of attention calls, and the form that they were made for. */
export interface TileFunctions {
  /** log2 of the bytes of an element: of Q and O, and of K and V. */
  readonly shift: 1 | 2;
  readonly kvShift: 1 | 2;
  readonly form: AttentionForm;
  readonly softmaxRow: SoftmaxRow;
  /** `(sum)`: its logarithm. */
  readonly log: Logarithm | undefined;
  readonly store: StoreTile;
}

/** Functions for a tile of several queries. */
export interface BlockFunctions extends TileFunctions {
  readonly multiply: MicroKernel;
  readonly packQueries: PackPanels;
  /** Packs keys, and values. */
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

type Make<Functions> = (module: ModuleBuilder, traits: WasmTraits, dtype: FloatDType, form: AttentionForm) => Functions;

const tileFunctions: Make<TileFunctions> = (module, traits, dtype, form) => ({
  shift: STORAGE_SHIFT[dtype],
  kvShift: STORAGE_SHIFT[form.dtypeKv],
  form,
  softmaxRow: softmaxRow(module, traits, form),
  log: form.hasLse ? logarithm(module, traits) : undefined,
  store: storeTile(module, dtype),
});

export const blockFunctions: Make<BlockFunctions> = (module, traits, dtype, form) => {
  const packQueries = packPanels(module, TILE_ROWS, dtype);
  return {
    ...tileFunctions(module, traits, dtype, form),
    multiply: microKernel(module, traits),
    packQueries,
    packColumns: packPanels(module, TILE_COLUMNS, form.dtypeKv),
    packWeights: dtype === 'f32' ? packQueries : packPanels(module, TILE_ROWS, 'f32'),
    hasNonFinite: hasNonFinite(module),
    addVisible: addVisible(module, traits),
  };
};

export const oneQueryFunctions: Make<OneQueryFunctions> = (module, traits, dtype, form) => ({
  ...tileFunctions(module, traits, dtype, form),
  loadVector: loadVector(module, dtype),
  addDots: addDots(module, traits, form.dtypeKv),
  addScaledRows: addScaledRows(module, traits, form.dtypeKv),
});

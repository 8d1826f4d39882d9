import type { FloatDType } from '@concord/backend-core';
import { type FunctionBody, type Local, ModuleBuilder } from '../../encoder/index.ts';
import type { WasmTraits } from '../kernel.ts';
import { blockFunctions, oneQueryFunctions, type TileFunctions } from './attention-functions.ts';
import type { AttentionTile } from './attention-tile.ts';
import { ATTENTION } from './attention-words.ts';
import { BlockTile } from './block-tile.ts';
import { OneQueryTile } from './one-query-tile.ts';
import type { ScoreForm } from './softmax-row.ts';

/**
 * Code whose tiles each compute some queries of a head, without ever storing the scores of all keys: for each block of keys the
 * scores are a product, the softmax is carried on row by row, and the product of its weights with the values is added to
 * the outputs (Milakov and Gimelshein, Online normalizer calculation for softmax, 2018).
 */
export function attentionCode(traits: WasmTraits, dtype: FloatDType, form: ScoreForm, isOneQuery: boolean): Uint8Array {
  const module = new ModuleBuilder({ shared: traits.isShared });
  const tileOf = isOneQuery
    ? tilesOf(OneQueryTile, oneQueryFunctions(module, traits, dtype, form))
    : tilesOf(BlockTile, blockFunctions(module, traits, dtype, form));
  module.function(
    { params: ['i32', 'i32', 'i32', 'i32'], result: 'none', export: 'run' },
    (body, args, first, end, scratch) => {
      body.for(first, end, 1, (number) => {
        const tile = tileOf(body, args, number, scratch);
        tile.begin();
        body.for(tile.firstKey, tile.endKey, ATTENTION.word(args, 'blockKeys'), (key) => tile.addBlock(key));
        tile.store();
      });
    },
  );
  return module.toBytes();
}

type Place = readonly [body: FunctionBody, args: Local<'i32'>, tile: Local<'i32'>, scratch: Local<'i32'>];

/** Makes tiles of a class with the functions that it wants. */
function tilesOf<Functions extends TileFunctions>(
  Tile: new (functions: Functions, ...place: Place) => AttentionTile<Functions>,
  functions: Functions,
): (...place: Place) => AttentionTile<TileFunctions> {
  return (...place) => new Tile(functions, ...place);
}

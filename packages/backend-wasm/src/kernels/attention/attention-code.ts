import type { FloatDType } from '@concord/backend-core';
import { ModuleBuilder } from '../../encoder/index.ts';
import type { WasmTraits } from '../kernel.ts';
import { attentionFunctions } from './attention-functions.ts';
import { AttentionTile } from './attention-tile.ts';
import { BLOCK_KEYS } from './attention-words.ts';
import type { ScoreForm } from './softmax-row.ts';

/**
 * Code whose tiles each compute some queries of a head, without ever storing the scores of all keys: for each block of keys the
 * scores are a product, the softmax is carried on row by row, and the product of its weights with the values is added to
 * the outputs (Milakov and Gimelshein, Online normalizer calculation for softmax, 2018).
 */
export function attentionCode(traits: WasmTraits, dtype: FloatDType, form: ScoreForm): Uint8Array {
  const module = new ModuleBuilder({ shared: traits.isShared });
  const functions = attentionFunctions(module, traits, dtype, form);
  module.function(
    { params: ['i32', 'i32', 'i32', 'i32'], result: 'none', export: 'run' },
    (body, args, first, end, scratch) => {
      body.for(first, end, 1, (number) => {
        const tile = new AttentionTile(body, functions, args, number, scratch);
        tile.begin();
        body.for(tile.firstKey, tile.endKey, BLOCK_KEYS, (key) => tile.addBlock(key));
        tile.store();
      });
    },
  );
  return module.toBytes();
}

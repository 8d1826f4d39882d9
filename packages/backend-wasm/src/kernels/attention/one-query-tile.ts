import { callStatement, i32, type Local, memory, type Value } from '../../encoder/index.ts';
import { lesser } from '../common/integers.ts';
import type { OneQueryFunctions } from './attention-functions.ts';
import { AttentionTile, SCORE_BYTES } from './attention-tile.ts';

/** A tile of one query, such as that of the next token: keys and values are read once, where they lie. */
export class OneQueryTile extends AttentionTile<OneQueryFunctions> {
  protected packQueries(from: Value<'i32'>): void {
    const { loadVector, shift } = this.functions;
    this.body.emit(callStatement(loadVector, this.at.queries, from, 1 << shift, this.headDim));
  }

  addBlock(key: Local<'i32'>): void {
    const { body, at, args, headDim, outputBytes } = this;
    const { addDots, addScaledRows, softmaxRow, form } = this.functions;
    const keys = body.let(lesser(this.word('blockKeys'), i32.sub(this.endKey, key)));
    const [k, v] = [this.address('k', this.kvHead, key), this.address('v', this.kvHead, key)];
    // The query sees all of these keys.
    const mask = form.hasMask ? this.maskAddress(i32.const(0), key) : i32.const(0);
    body.emit(
      memory.fill(at.scores, 0, SCORE_BYTES),
      callStatement(addDots, at.scores, k, this.rowBytes('k'), at.queries, keys, headDim),
      callStatement(softmaxRow, args, at.scores, keys, 0, keys, mask, at.largest, at.outputs, outputBytes),
      callStatement(addScaledRows, at.outputs, v, this.rowBytes('v'), at.scores, headDim, keys),
    );
  }
}

import { call, callStatement, i32, type Local, type Operand, type Value } from '../../encoder/index.ts';
import { greater, lesser } from '../common/integers.ts';
import { TILE_COLUMNS, TILE_ROWS } from '../gemm/micro-kernel.ts';
import type { BlockFunctions } from './attention-functions.ts';
import { AttentionTile, type Keys, SCORE_BYTES } from './attention-tile.ts';

/** A tile of several queries, whose products with blocks of keys and values are those of packed panels. */
export class BlockTile extends AttentionTile<BlockFunctions> {
  protected packQueries(from: Value<'i32'>): void {
    const { packQueries, shift } = this.functions;
    this.body.emit(
      callStatement(packQueries, this.at.queries, from, this.rowBytes('q'), 1 << shift, this.queries, this.headDim),
    );
  }

  /** Adds the keys from `key` on to the sums, at most a block of them. */
  addBlock(key: Local<'i32'>): void {
    const body = this.body;
    const { packColumns, packWeights, shift, softmaxRow, hasNonFinite, form } = this.functions;
    const { queries, scores, weights, keys: keyPanels, values, outputs } = this.at;
    const keys = body.let(lesser(this.word('blockKeys'), i32.sub(this.endKey, key)));
    const [k, v] = [this.address('k', this.kvHead, key), this.address('v', this.kvHead, key)];
    body.emit(
      callStatement(packColumns, keyPanels, k, this.rowBytes('k'), 1 << shift, keys, this.headDim),
      callStatement(packColumns, values, v, 1 << shift, this.rowBytes('v'), this.headDim, keys),
    );
    this.#multiply(queries, keyPanels, { sums: scores, rowBytes: SCORE_BYTES, isFirst: 1 }, keys, this.headDim);

    const isPartial = body.let(i32.const(0));
    this.eachRow((row) => {
      const { first, end } = this.#seenInBlock(row, key, keys);
      body.set(isPartial, i32.or(isPartial, i32.or(first, i32.ne(end, keys))));
      const mask = form.hasMask ? this.maskAddress(row, key) : i32.const(0);
      const state = this.state(row);
      const [line, output] = [this.scores(row), this.outputs(row)];
      body.emit(callStatement(softmaxRow, this.args, line, keys, first, end, mask, state, output, this.outputBytes));
    });

    body.if(isPartial, () => {
      const end = i32.add(values, i32.mul(this.outputBytes, keys));
      body.set(isPartial, call(hasNonFinite, values, end));
    });
    body.if(
      isPartial,
      () => this.#addVisible(key, keys),
      () => {
        body.emit(callStatement(packWeights, weights, scores, SCORE_BYTES, 4, this.queries, keys));
        const into = { sums: outputs, rowBytes: this.outputBytes, isFirst: 0 } as const;
        this.#multiply(weights, values, into, this.headDim, keys);
      },
    );
  }

  #addVisible(key: Local<'i32'>, keys: Local<'i32'>): void {
    this.eachRow((row) => {
      const { first, end } = this.#seenInBlock(row, key, keys);
      const { addVisible } = this.functions;
      const [output, weights] = [this.outputs(row), this.scores(row)];
      this.body.emit(callStatement(addVisible, output, this.outputBytes, weights, this.at.values, keys, first, end));
    });
  }

  /** The sums of all queries times all columns; panels follow each other at `a`, and at `b`. */
  #multiply(
    a: Local<'i32'>,
    b: Local<'i32'>,
    into: { readonly sums: Local<'i32'>; readonly rowBytes: Operand<'i32'>; readonly isFirst: 0 | 1 },
    columns: Local<'i32'>,
    depth: Local<'i32'>,
  ): void {
    const body = this.body;
    const { multiply } = this.functions;
    const panelB = body.let(b);
    body.for(0, columns, TILE_COLUMNS, (column) => {
      const panelA = body.let(a);
      const sums = body.let(i32.add(into.sums, i32.shl(column, 2)));
      body.for(0, this.queries, TILE_ROWS, () => {
        body.emit(callStatement(multiply, panelA, panelB, sums, into.rowBytes, depth, into.isFirst));
        body.increase(panelA, i32.mul(depth, 4 * TILE_ROWS));
        body.increase(sums, i32.mul(into.rowBytes, TILE_ROWS));
      });
      body.increase(panelB, i32.mul(depth, 4 * TILE_COLUMNS));
    });
  }

  /** The same within a block, counted from its first key. */
  #seenInBlock(row: Local<'i32'>, key: Local<'i32'>, keys: Local<'i32'>): Keys {
    const body = this.body;
    const { first, end } = this.seen(i32.add(this.query, row));
    const inBlock = (place: Local<'i32'>): Value<'i32'> => lesser(i32.sub(greater(place, key), key), keys);
    const from = body.let(inBlock(first));
    return { first: from, end: body.let(greater(inBlock(end), from)) };
  }
}

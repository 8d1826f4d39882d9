import { FAR_PLACE } from '@concord/variants';
import {
  call,
  callStatement,
  f32,
  type FunctionBody,
  i32,
  type Local,
  memory,
  type Operand,
  select,
  type Value,
} from '../../encoder/index.ts';
import { divided, greater, lesser } from '../common/integers.ts';
import { TILE_COLUMNS, TILE_ROWS } from '../gemm/micro-kernel.ts';
import type { BlockFunctions, OneQueryFunctions, TileFunctions } from './attention-functions.ts';
import { ALL_KEYS, ATTENTION, type AttentionArgument, BLOCK_KEYS } from './attention-arguments.ts';

/** Bytes of a row of scores. */
const SCORE_BYTES: number = 4 * BLOCK_KEYS;

type Address = Local<'i32'>;
/** A range of keys. */
interface Keys {
  readonly first: Local<'i32'>;
  readonly end: Local<'i32'>;
}

/** The keys of a batch, and what it adds to the number of a query for the first one that it sees and that before which they end. */
interface Placed {
  readonly keys: Local<'i32'>;
  readonly firstOffset: Local<'i32'>;
  readonly endOffset: Local<'i32'>;
}

/** The statements for one tile: some queries of a head. Names are those of {@link ATTENTION}'s words. */
export abstract class AttentionTile<Functions extends TileFunctions> {
  /** The keys that any of the queries sees. */
  readonly firstKey: Local<'i32'>;
  readonly endKey: Local<'i32'>;
  /** The place of the queries; undefined: by the arguments. */
  readonly #placed: Placed | undefined;
  protected readonly body: FunctionBody;
  protected readonly functions: Functions;
  protected readonly args: Address;
  protected readonly batch: Local<'i32'>;
  protected readonly head: Local<'i32'>;
  protected readonly kvHead: Local<'i32'>;
  protected readonly query: Local<'i32'>;
  protected readonly queries: Local<'i32'>;
  protected readonly headDim: Local<'i32'>;
  protected readonly valueDim: Local<'i32'>;
  protected readonly outputBytes: Local<'i32'>;
  protected readonly at: Readonly<
    Record<'queries' | 'scores' | 'weights' | 'keys' | 'values' | 'outputs' | 'largest', Address>
  >;

  constructor(functions: Functions, body: FunctionBody, args: Address, tile: Local<'i32'>, scratch: Address) {
    this.body = body;
    this.functions = functions;
    this.args = args;
    const { quotient: inBatch, remainder: part } = divided(body, tile, this.word('tilesOfHead'));
    const { quotient: batch, remainder: head } = divided(body, inBatch, this.word('heads'));
    this.batch = batch;
    this.head = head;
    this.kvHead = body.let(i32.divU(head, this.word('headsOfKv')));
    this.query = body.let(i32.mul(part, this.word('rows')));
    this.queries = body.let(lesser(this.word('rows'), i32.sub(this.word('seqQ'), this.query)));
    this.headDim = body.let(this.word('headDim'));
    this.valueDim = body.let(this.word('valueDim'));
    this.outputBytes = body.let(i32.shl(i32.and(i32.add(this.valueDim, TILE_COLUMNS - 1), -TILE_COLUMNS), 2));
    const at = (name: AttentionArgument): Address => body.let(i32.add(scratch, this.word(name)));
    this.at = {
      queries: scratch,
      scores: at('scoresAt'),
      weights: at('weightsAt'),
      keys: at('keysAt'),
      values: at('valuesAt'),
      outputs: at('outputsAt'),
      largest: at('largestAt'),
    };
    this.#placed = this.#readPlaces();
    this.firstKey = this.seen(this.query).first;
    this.endKey = this.seen(i32.sub(i32.add(this.query, this.queries), 1)).end;
  }

  /** Makes the queries ready. */
  protected abstract packQueries(from: Value<'i32'>): void;

  /** Adds the keys from `key` on to the sums, at most a block of them. */
  abstract addBlock(key: Local<'i32'>): void;

  /** Makes the queries ready, and sets sums to 0. */
  begin(): void {
    this.packQueries(this.address('q', this.head, this.query));
    this.body.emit(memory.fill(this.at.outputs, 0, i32.mul(this.queries, this.outputBytes)));
    this.eachRow((row) => {
      const state = this.state(row);
      this.body.emit(f32.store(state, -Infinity), f32.store(state, 0, 4));
    });
  }

  /** Divides by the sum of the weights. */
  store(): void {
    const body = this.body;
    this.eachRow((row) => {
      const output = body.let(this.outputs(row));
      const total = body.let(f32.load(this.state(row), 4));
      const { first, end } = this.seen(i32.add(this.query, row));
      const isBlind = body.let(i32.leU(end, first));
      if (this.functions.form.hasMask) body.set(isBlind, i32.or(isBlind, f32.eq(total, 0)));
      // The largest weight is 1, so that the sum is a normal number, or NaN, or 0 for scores of -Infinity alone.
      const factor = body.let(f32.div(1, total));
      body.if(isBlind, () => {
        body.emit(memory.fill(output, 0, this.outputBytes));
        body.set(factor, 0);
      });
      const { log } = this.functions;
      if (log !== undefined) {
        const head = i32.add(i32.mul(this.batch, this.word('heads')), this.head);
        const place = i32.add(i32.mul(head, this.word('seqQ')), i32.add(this.query, row));
        const at = i32.add(this.word('lse'), i32.shl(place, 2));
        // Without a key it is -Infinity, as the largest score is.
        body.emit(f32.store(at, f32.add(f32.load(this.state(row)), call(log, total))));
      }
      const to = this.address('o', this.head, i32.add(this.query, row));
      body.emit(callStatement(this.functions.store, to, 0, output, 0, 1, this.valueDim, factor, 0));
    });
  }

  protected eachRow(statements: (row: Local<'i32'>) => void): void {
    this.body.for(0, this.queries, 1, statements);
  }

  protected word(name: AttentionArgument): Value<'i32'> {
    return ATTENTION.word(this.args, name);
  }

  protected address(operand: 'q' | 'k' | 'v' | 'o', head: Local<'i32'>, row: Value<'i32'>): Value<'i32'> {
    const batchPlace = i32.mul(this.batch, this.word(`${operand}Batch`));
    const headPlace = i32.add(batchPlace, i32.mul(head, this.word(`${operand}Head`)));
    const place = i32.add(headPlace, i32.mul(row, this.word(`${operand}Row`)));
    return i32.add(this.word(operand), i32.shl(place, this.shiftOf(operand)));
  }

  protected shiftOf(operand: 'q' | 'k' | 'v' | 'o'): 1 | 2 {
    return operand === 'q' || operand === 'o' ? this.functions.shift : this.functions.kvShift;
  }

  protected rowBytes(operand: 'q' | 'k' | 'v'): Value<'i32'> {
    return i32.shl(this.word(`${operand}Row`), this.shiftOf(operand));
  }

  protected maskAddress(row: Value<'i32'>, key: Local<'i32'>): Value<'i32'> {
    const headPlace = i32.add(i32.mul(this.batch, this.word('maskBatch')), i32.mul(this.head, this.word('maskHead')));
    const rowPlace = i32.add(headPlace, i32.mul(i32.add(this.query, row), this.word('maskRow')));
    return i32.add(this.word('mask'), i32.shl(i32.add(rowPlace, i32.mul(key, this.word('maskKey'))), 2));
  }

  /** The keys that a query sees. */
  protected seen(query: Value<'i32'>): Keys {
    const placed = this.#placed;
    const clamped = (offset: 'firstOffset' | 'endOffset'): Local<'i32'> => {
      const place = this.body.let(i32.add(query, placed?.[offset] ?? this.word(offset)));
      return this.body.let(select(i32.ltS(place, 0), i32.const(0), lesser(place, placed?.keys ?? this.word('seqKv'))));
    };
    return { first: clamped('firstOffset'), end: clamped('endOffset') };
  }

  #readPlaces(): Placed | undefined {
    const { hasLengths, hasStarts } = this.functions.form;
    if (!hasLengths && !hasStarts) return undefined;
    const { body } = this;
    const read = (name: 'lengths' | 'starts', stride: 'lengthStride' | 'startStride'): Local<'i32'> =>
      body.let(i32.load(i32.add(this.word(name), i32.shl(i32.mul(this.batch, this.word(stride)), 2))));
    const atMost = (value: Local<'i32'>, most: number): Value<'i32'> =>
      select(i32.ltS(value, most), value, i32.const(most));
    const atLeast = (value: Local<'i32'>, least: Value<'i32'>): Value<'i32'> =>
      select(i32.ltS(value, least), least, value);
    const keys = body.let(
      hasLengths ? lesser(read('lengths', 'lengthStride'), this.word('seqKv')) : this.word('seqKv'),
    );
    const start = body.let(
      hasStarts ? atMost(read('starts', 'startStride'), FAR_PLACE) : i32.sub(keys, this.word('seqQ')),
    );
    body.set(start, atLeast(start, i32.const(-FAR_PLACE)));
    // Where it makes no difference any more, the first place stays in range of the difference.
    const hidden = this.word('firstOffset');
    const first = body.let(i32.sub(atLeast(start, i32.sub(hidden, FAR_PLACE)), hidden));
    body.set(first, atMost(first, FAR_PLACE));
    const seen = body.let(this.word('endOffset'));
    const end = body.let(select(i32.eq(seen, ALL_KEYS), i32.const(FAR_PLACE), i32.add(start, seen)));
    return { keys, firstOffset: first, endOffset: body.let(atMost(end, FAR_PLACE)) };
  }

  protected state(row: Local<'i32'>): Value<'i32'> {
    return i32.add(this.at.largest, i32.shl(row, 3));
  }

  protected scores(row: Local<'i32'>): Value<'i32'> {
    return i32.add(this.at.scores, i32.mul(row, SCORE_BYTES));
  }

  protected outputs(row: Local<'i32'>): Value<'i32'> {
    return i32.add(this.at.outputs, i32.mul(row, this.outputBytes));
  }
}

/** A tile of one query, such as that of the next token: keys and values are read once, where they lie. */
export class OneQueryTile extends AttentionTile<OneQueryFunctions> {
  protected packQueries(from: Value<'i32'>): void {
    const { loadVector, shift } = this.functions;
    this.body.emit(callStatement(loadVector, this.at.queries, from, 1 << shift, this.headDim));
  }

  addBlock(key: Local<'i32'>): void {
    const { body, at, args, headDim, valueDim, outputBytes } = this;
    const { addDots, addScaledRows, softmaxRow, form } = this.functions;
    const keys = body.let(lesser(this.word('blockKeys'), i32.sub(this.endKey, key)));
    const [k, v] = [this.address('k', this.kvHead, key), this.address('v', this.kvHead, key)];
    // The query sees all of these keys.
    const mask = form.hasMask ? this.maskAddress(i32.const(0), key) : i32.const(0);
    body.emit(
      memory.fill(at.scores, 0, SCORE_BYTES),
      callStatement(addDots, at.scores, k, this.rowBytes('k'), at.queries, keys, headDim),
      callStatement(softmaxRow, args, at.scores, keys, 0, keys, mask, at.largest, at.outputs, outputBytes),
      callStatement(addScaledRows, at.outputs, v, this.rowBytes('v'), at.scores, valueDim, keys),
    );
  }
}

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
    const { packColumns, packWeights, kvShift, softmaxRow, hasNonFinite, form } = this.functions;
    const { queries, scores, weights, keys: keyPanels, values, outputs } = this.at;
    const keys = body.let(lesser(this.word('blockKeys'), i32.sub(this.endKey, key)));
    const [k, v] = [this.address('k', this.kvHead, key), this.address('v', this.kvHead, key)];
    body.emit(
      callStatement(packColumns, keyPanels, k, this.rowBytes('k'), 1 << kvShift, keys, this.headDim),
      callStatement(packColumns, values, v, 1 << kvShift, this.rowBytes('v'), this.valueDim, keys),
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
        this.#multiply(weights, values, into, this.valueDim, keys);
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

import {
  callStatement,
  f32,
  type FunctionBody,
  i32,
  type Local,
  memory,
  select,
  type Value,
} from '../../encoder/index.ts';
import { divided, lesser } from '../common/integers.ts';
import { TILE_COLUMNS } from '../gemm/micro-kernel.ts';
import type { TileFunctions } from './attention-functions.ts';
import { ATTENTION, type AttentionWord, BLOCK_KEYS } from './attention-words.ts';

/** Bytes of a row of scores. */
export const SCORE_BYTES: number = 4 * BLOCK_KEYS;

type Address = Local<'i32'>;
/** A range of keys. */
export interface Keys {
  readonly first: Local<'i32'>;
  readonly end: Local<'i32'>;
}

/** The statements for one tile: some queries of a head. Names are those of {@link ATTENTION}'s words. */
export abstract class AttentionTile<Functions extends TileFunctions> {
  /** The keys that any of the queries sees. */
  readonly firstKey: Local<'i32'>;
  readonly endKey: Local<'i32'>;
  protected readonly body: FunctionBody;
  protected readonly functions: Functions;
  protected readonly args: Address;
  protected readonly batch: Local<'i32'>;
  protected readonly head: Local<'i32'>;
  protected readonly kvHead: Local<'i32'>;
  protected readonly query: Local<'i32'>;
  protected readonly queries: Local<'i32'>;
  protected readonly headDim: Local<'i32'>;
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
    this.outputBytes = body.let(i32.shl(i32.and(i32.add(this.headDim, TILE_COLUMNS - 1), -TILE_COLUMNS), 2));
    const at = (name: AttentionWord): Address => body.let(i32.add(scratch, this.word(name)));
    this.at = {
      queries: scratch,
      scores: at('scoresAt'),
      weights: at('weightsAt'),
      keys: at('keysAt'),
      values: at('valuesAt'),
      outputs: at('outputsAt'),
      largest: at('largestAt'),
    };
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
      const to = this.address('o', this.head, i32.add(this.query, row));
      body.emit(callStatement(this.functions.store, to, 0, output, 0, 1, this.headDim, factor, 0));
    });
  }

  protected eachRow(statements: (row: Local<'i32'>) => void): void {
    this.body.for(0, this.queries, 1, statements);
  }

  protected word(name: AttentionWord): Value<'i32'> {
    return ATTENTION.word(this.args, name);
  }

  protected address(operand: 'q' | 'k' | 'v' | 'o', head: Local<'i32'>, row: Value<'i32'>): Value<'i32'> {
    const batchPlace = i32.mul(this.batch, this.word(`${operand}Batch`));
    const headPlace = i32.add(batchPlace, i32.mul(head, this.word(`${operand}Head`)));
    const place = i32.add(headPlace, i32.mul(row, this.word(`${operand}Row`)));
    return i32.add(this.word(operand), i32.shl(place, this.functions.shift));
  }

  protected rowBytes(operand: 'q' | 'k' | 'v'): Value<'i32'> {
    return i32.shl(this.word(`${operand}Row`), this.functions.shift);
  }

  protected maskAddress(row: Value<'i32'>, key: Local<'i32'>): Value<'i32'> {
    const headPlace = i32.add(i32.mul(this.batch, this.word('maskBatch')), i32.mul(this.head, this.word('maskHead')));
    const rowPlace = i32.add(headPlace, i32.mul(i32.add(this.query, row), this.word('maskRow')));
    return i32.add(this.word('mask'), i32.shl(i32.add(rowPlace, i32.mul(key, this.word('maskKey'))), 2));
  }

  /** The keys that a query sees. */
  protected seen(query: Value<'i32'>): Keys {
    const clamped = (offset: 'firstOffset' | 'endOffset'): Local<'i32'> => {
      const place = this.body.let(i32.add(query, this.word(offset)));
      return this.body.let(select(i32.ltS(place, 0), i32.const(0), lesser(place, this.word('seqKv'))));
    };
    return { first: clamped('firstOffset'), end: clamped('endOffset') };
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

import type { FloatDType } from '@concord/backend-core';
import type { BackendKernels, CheckedAttention, ResolvedAttention, RunKernel } from '@concord/backend-core/implement';
import { maskStep } from '@concord/kernel';
import { MAX_PLACED, placedSight } from '@concord/variants';
import { type FunctionBody, type Local, ModuleBuilder } from '../../encoder/index.ts';
import type { Launcher, WasmBuffer, WasmTraits } from '../kernel.ts';
import { type AttentionForm, blockFunctions, oneQueryFunctions, type TileFunctions } from './attention-functions.ts';
import { type AttentionTile, BlockTile, OneQueryTile } from './attention-tile.ts';
import { ALL_KEYS, ATTENTION, BLOCK_KEYS } from './attention-arguments.ts';
import { bitsOf, codeOfTiles, operandAddress } from '../common/arguments.ts';
import { CodeCache } from '../common/code-cache.ts';
import { roundUp } from '../common/integers.ts';
import { TILE_COLUMNS, TILE_ROWS } from '../gemm/micro-kernel.ts';

/**
 * Code whose tiles each compute some queries of a head, without ever storing the scores of all keys: for each block of keys the
 * scores are a product, the softmax is carried on row by row, and the product of its weights with the values is added to
 * the outputs (Milakov and Gimelshein, Online normalizer calculation for softmax, 2018).
 */
function attentionCode(traits: WasmTraits, dtype: FloatDType, form: AttentionForm, isOneQuery: boolean): Uint8Array {
  const module = new ModuleBuilder({ shared: traits.isShared });
  const tileOf = isOneQuery
    ? tilesOf(OneQueryTile, oneQueryFunctions(module, traits, dtype, form))
    : tilesOf(BlockTile, blockFunctions(module, traits, dtype, form));
  return codeOfTiles(module, (body, args, first, end, scratch) => {
    body.for(first, end, 1, (number) => {
      const tile = tileOf(body, args, number, scratch);
      tile.begin();
      body.for(tile.firstKey, tile.endKey, ATTENTION.word(args, 'blockKeys'), (key) => tile.addBlock(key));
      tile.store();
    });
  });
}

type Place = readonly [body: FunctionBody, args: Local<'i32'>, tile: Local<'i32'>, scratch: Local<'i32'>];

/** Makes tiles of a class with the functions that it wants. */
function tilesOf<Functions extends TileFunctions>(
  Tile: new (functions: Functions, ...place: Place) => AttentionTile<Functions>,
  functions: Functions,
): (...place: Place) => AttentionTile<TileFunctions> {
  return (...place) => new Tile(functions, ...place);
}

/** The maximum number of queries of a tile. They share the packed keys and values; their scores must fit the second level of cache. */
const MAX_ROWS = 128;
/** Elements of the keys of a block, as of its values, and of the queries of a tile: panels that the second level of cache holds. */
const MAX_PANEL = 2 ** 15;
/** Tiles are not made smaller than this to have more of them. */
const MIN_ROWS = 24;
const TILES_PER_THREAD = 4;
/** Queries and keys are counted as signed integers, with an offset as large. */
const MAX_LENGTH = 2 ** 30;

/** attention, in float32 from f32 or f16 storage. */
export function attentionKernel(
  launcher: Launcher,
  run: RunKernel<WasmBuffer>['run'],
): NonNullable<BackendKernels<WasmBuffer>['attention']> {
  const codes = new CodeCache(launcher.traits);
  return {
    dtypes: ['f32', 'f16'],
    features: ['lengths', 'starts', 'mask u8', 'mask f16', 'valueDim', 'lse', 'dtypeKv f16', 'dtypeKv bf16'],
    refuse: (call) => {
      const most = placedSight(call) === undefined ? MAX_LENGTH : MAX_PLACED;
      const { seqQ, seqKv } = call;
      return Math.max(seqQ, seqKv) > most
        ? `more than 2^${Math.log2(most)} queries or keys, got ${seqQ} and ${seqKv}`
        : undefined;
    },
    run: (call) => attend(launcher, codes, withFloatMask(launcher, run, call)),
  };
}

/** The same call with a mask in float32, which is written to temporary memory first. */
function withFloatMask(
  launcher: Launcher,
  run: RunKernel<WasmBuffer>['run'],
  call: ResolvedAttention<WasmBuffer>,
): ResolvedAttention<WasmBuffer> {
  const step = maskStep(call);
  if (step === undefined) return call;
  const { geometry, bytes, call: plain } = step;
  const mask = { buffer: { address: launcher.temporary(bytes), bytes }, byteOffset: 0, byteLength: bytes };
  run({ geometry, inputs: [call.mask], outputs: [mask], params: [], inPlace: [false], opName: call.opName });
  return { ...call, ...plain, mask };
}

function attend(launcher: Launcher, codes: CodeCache, call: ResolvedAttention<WasmBuffer>): void {
  const { batch, heads, kvHeads, seqQ, seqKv, headDim, valueDim, dtype, softcap } = call;
  const { causal, causalOffset, window } = call;
  const form = {
    ...{ hasSoftcap: softcap > 0, hasMask: call.maskStrides !== undefined },
    ...{ hasLengths: call.lengthStride !== undefined, hasStarts: call.startStride !== undefined, hasLse: call.hasLse },
    dtypeKv: call.dtypeKv,
  };
  const isOneQuery = seqQ === 1;
  const key = `${dtype} ${Object.values(form).join(' ')} ${isOneQuery}`;
  const code = codes.get(key, (traits) => attentionCode(traits, dtype, form, isOneQuery));
  const [maskBatch = 0, maskHead = 0, maskRow = 0, maskKey = 0] = call.maskStrides ?? [];
  const limited = (offset: number): number => Math.max(-MAX_LENGTH, Math.min(MAX_LENGTH, offset));
  const placed = placedSight(call);

  const wanted = Math.ceil((TILES_PER_THREAD * launcher.traits.threads) / (batch * heads));
  const widest = Math.max(headDim, valueDim);
  const mostRows = Math.min(MAX_ROWS, Math.max(TILE_ROWS, Math.floor(MAX_PANEL / widest)));
  const tilesOfHead = Math.max(Math.ceil(seqQ / mostRows), Math.min(wanted, Math.ceil(seqQ / MIN_ROWS)));
  const rows = roundUp(Math.ceil(seqQ / tilesOfHead), TILE_ROWS);
  const tiles = Math.ceil(seqQ / rows);
  const mostKeys = Math.max(TILE_COLUMNS, Math.floor(MAX_PANEL / widest));
  const blockKeys = Math.min(seqKv, BLOCK_KEYS, mostKeys);
  const memory = layout(rows, blockKeys, headDim, valueDim);
  const args = ATTENTION.pack(
    {
      q: operandAddress(call.q),
      k: operandAddress(call.k),
      v: operandAddress(call.v),
      o: operandAddress(call.o),
      mask: operandAddress(call.mask),
      lse: operandAddress(call.lse),
      heads,
      headsOfKv: heads / kvHeads,
      seqQ,
      seqKv,
      headDim,
      valueDim,
      ...strides(call),
      ...{ maskBatch, maskHead, maskRow, maskKey },
      scale: bitsOf(call.scale),
      softcap: bitsOf(softcap),
      // Of places in memory the first offset is taken away from what is read.
      firstOffset: placed?.hidden ?? limited(causalOffset - window + 1),
      endOffset: causal ? limited(causalOffset + 1) : placed === undefined ? MAX_LENGTH : ALL_KEYS,
      lengths: operandAddress(call.lengths),
      lengthStride: call.lengthStride ?? 0,
      starts: operandAddress(call.starts),
      startStride: call.startStride ?? 0,
      rows,
      blockKeys,
      tilesOfHead: tiles,
    },
    memory.args,
  );
  launcher.launch({ code, args, tiles: batch * heads * tiles, scratchBytes: memory.bytes });
}

function strides({ qStrides, kStrides, vStrides, oStrides }: CheckedAttention) {
  const [qBatch, qHead, qRow] = qStrides;
  const [kBatch, kHead, kRow] = kStrides;
  const [vBatch, vHead, vRow] = vStrides;
  const [oBatch, oHead, oRow] = oStrides;
  return { qBatch, qHead, qRow, kBatch, kHead, kRow, vBatch, vHead, vRow, oBatch, oHead, oRow };
}

/** The layout of a thread's own memory, and its size; packed queries are at 0. */
function layout(rows: number, blockKeys: number, headDim: number, valueDim: number) {
  const columns = roundUp(valueDim, TILE_COLUMNS);
  const keys = roundUp(blockKeys, TILE_COLUMNS);
  const scoresAt = aligned(rows * headDim);
  const weightsAt = scoresAt + aligned(rows * BLOCK_KEYS);
  const keysAt = weightsAt + aligned(rows * keys);
  const valuesAt = keysAt + aligned(keys * headDim);
  const outputsAt = valuesAt + aligned(keys * columns);
  const largestAt = outputsAt + aligned(rows * columns);
  const bytes = largestAt + aligned(2 * rows);
  return { args: { scoresAt, weightsAt, keysAt, valuesAt, outputsAt, largestAt }, bytes };
}

/** Bytes of some float32, up to a multiple of 64. */
const aligned = (floats: number): number => roundUp(4 * floats, 64);

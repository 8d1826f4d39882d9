import type { FloatDType } from '@concord/backend-core';
import type { CodeCache } from '../common/code-cache.ts';
import { type TileEpilogue, withEpilogueWords } from '../epilogue/epilogue-tile.ts';
import type { Launcher } from '../kernel.ts';
import { vectorCode, vectorScratch } from './vector-code.ts';
import { type GivenVectorWords, vectorWords } from './vector-words.ts';

/** Elements of the matrix below which a tile is too little work. */
const MIN_TILE_ELEMENTS = 2 ** 14;
/** The maximum number of outputs of a tile, whose sums then stay in the first level of cache. */
const MAX_TILE = 4096;
/** Tiles that a thread should find, so that none waits long for the last. */
const TILES_PER_THREAD = 4;

/** Queues `batches` products of a matrix and a vector. */
export function launchVector(
  launcher: Launcher,
  codes: CodeCache,
  dtype: FloatDType,
  batches: number,
  given: GivenVectorWords,
  epilogue?: TileEpilogue,
): void {
  const { count, depth } = given;
  const code = codes.get(`vector ${dtype} ${epilogue?.key ?? ''}`, (traits) => vectorCode(traits, dtype, epilogue));
  // Where outputs lie side by side, a narrow tile reads a piece of each row: half as fast as whole rows.
  const tilesOfThread = given.depthStride === 1 ? TILES_PER_THREAD : 1;
  const wanted = Math.ceil((tilesOfThread * launcher.traits.threads) / batches);
  const parts = Math.max(1, Math.min(wanted, Math.ceil((count * depth) / MIN_TILE_ELEMENTS)));
  const rounds = Math.ceil(count / MAX_TILE / wanted);
  const tile = Math.ceil(count / (rounds * parts) / 8) * 8;
  const tiles = Math.ceil(count / tile);
  const words = withEpilogueWords(vectorWords(given, { tile, tiles }), epilogue, code);
  launcher.launch({ code, words, tiles: batches * tiles, scratchBytes: vectorScratch(tile) });
}

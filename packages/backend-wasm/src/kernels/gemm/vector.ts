import type { FloatDType } from '@concord/backend-core';
import type { CodeCache } from '../common/code-cache.ts';
import { type TileEpilogue, withEpilogueWords } from '../epilogue/epilogue-tile.ts';
import type { Launcher } from '../kernel.ts';
import { vectorCode, vectorScratch } from './vector-code.ts';
import { type GivenVectorWords, vectorWords } from './vector-words.ts';

/** Elements of the matrix below which a tile is too little work. */
const MIN_TILE_ELEMENTS = 2 ** 14;
/** The most outputs of a tile; 4 KB, so that its sums stay in the first level of cache. */
const MAX_TILE = 1024;
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
  const wanted = Math.ceil(count / Math.ceil((TILES_PER_THREAD * launcher.traits.threads) / batches));
  const tile = Math.min(count, MAX_TILE, Math.ceil(Math.max(wanted, MIN_TILE_ELEMENTS / depth) / 8) * 8);
  const tiles = Math.ceil(count / tile);
  const words = withEpilogueWords(vectorWords(given, { tile, tiles }), epilogue);
  launcher.launch({ code, words, tiles: batches * tiles, scratchBytes: vectorScratch(tile) });
}

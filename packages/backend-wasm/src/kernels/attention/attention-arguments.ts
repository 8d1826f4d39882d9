import type { NamesIn } from '@concord/variants';
import { Arguments, type ArgumentValues } from '../common/arguments.ts';

/** The maximum number of keys that a tile of queries meets at a time: the scores of a row have this many places. */
export const BLOCK_KEYS = 128;

const OPERANDS = 'q k v o mask lse heads headsOfKv seqQ seqKv headDim valueDim';
const STRIDES = 'qBatch qHead qRow kBatch kHead kRow vBatch vHead vRow oBatch oHead oRow';
const MASK = 'maskBatch maskHead maskRow maskKey';
const SCORES = 'scale softcap firstOffset endOffset rows lengths lengthStride starts startStride';
const TILES = 'blockKeys tilesOfHead scoresAt weightsAt keysAt valuesAt outputsAt largestAt';

export type AttentionArgument = NamesIn<typeof OPERANDS | typeof STRIDES | typeof MASK | typeof SCORES | typeof TILES>;

/** The `endOffset` of calls with places in memory: queries see all keys from the first on. */
export const ALL_KEYS: number = 2 ** 31 - 1;

/**
 * The arguments that the code of attention reads. Strides count elements. Query i sees keys from `i + firstOffset` to before
 * `i + endOffset`, signed, as far as there are keys; where places are in memory, both count from the place of query 0. A tile is `rows` queries of a head, which meet
 * `blockKeys` keys at a time. The last arguments are places in the thread's own memory, in
 * which the packed queries lie at 0; at `largestAt` there are for each row the largest score so far and the sum of weights.
 */
export const ATTENTION: Arguments<AttentionArgument> = new Arguments([OPERANDS, STRIDES, MASK, SCORES, TILES]);

/** The arguments of {@link ATTENTION}. */
export type AttentionArguments = ArgumentValues<AttentionArgument, never>;

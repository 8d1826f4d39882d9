import { createHash } from 'node:crypto';
import { UserError } from '@concord/example-command';
import type { Corpus } from './corpus.ts';

/**
 * The division of a graph: the vectors whose neighbours are searched are cut into tiles, of which a worker does one at a time. The
 * candidates are cut into shards, which are loaded onto the device one by one and stay there. There is a digest of each shard.
 */
export type Plan = Readonly<Record<'vectors' | 'dimensions' | 'k' | 'tileRows' | 'shardRows', number>> &
  Readonly<{ digests: readonly string[] }>;

/** Reads and checks the whole corpus, shard by shard. */
export async function makePlan(
  corpus: Corpus,
  { k, tile, shard: shardRows }: { readonly k: number; readonly tile?: number; readonly shard: number },
  signal: AbortSignal,
): Promise<Plan> {
  const { vectors, dimensions } = corpus;
  const hint = 'give a smaller --k';
  if (k >= vectors) throw new UserError('BAD_CORPUS', `${vectors} vectors have no ${k} others`, { hint });
  // A few workers have some tiles each even of a small corpus.
  const tileRows = tile ?? Math.min(1024, Math.max(64, Math.ceil(vectors / 64)));
  const plan = { vectors, dimensions, k, tileRows, shardRows, digests: [] as string[] };
  for (const [from, to] of rangesOf(plan, shardRows)) {
    signal.throwIfAborted();
    plan.digests.push(digestOf(await corpus.read(from, to)));
  }
  return plan;
}

/** The vectors in parts of `rows`: the first of each, and the one after its last. */
export function rangesOf({ vectors }: Plan, rows: number): (readonly [from: number, to: number])[] {
  const starts = Array.from({ length: Math.ceil(vectors / rows) }, (_, index) => index * rows);
  return starts.map((from) => [from, Math.min(vectors, from + rows)]);
}

/** SHA-256. */
export function digestOf(data: Float32Array): string {
  return createHash('sha256').update(new Uint8Array(data.buffer)).digest('hex');
}

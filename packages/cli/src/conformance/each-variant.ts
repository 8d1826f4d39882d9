import type { VariantRuns } from '@concord/conformance';
import { commaList } from '../comma-list.ts';

/** Variants that are forced together: at most one of each kind. */
export type VariantRound = readonly string[];

/**
 * Rounds in which every candidate is forced once. Variants of different kinds, such as `gemm/tiled` and `gemm/matvec`, seldom
 * meet in one op and share a round.
 */
export function roundsOf({ candidates }: Pick<VariantRuns, 'candidates'>): VariantRound[] {
  const rounds: string[][] = [];
  const used = new Map<string, number>();
  for (const id of candidates) {
    // Up to the first number or parameter.
    const [kind] = /^[^/]*\/?[a-z]*/.exec(id) as unknown as [string];
    const round = used.get(kind) ?? 0;
    used.set(kind, round + 1);
    (rounds[round] ??= []).push(id);
  }
  return rounds;
}

/** The variants that `CONCORD_VARIANT` names. */
export function forcedVariants(): VariantRound {
  return commaList(process.env['CONCORD_VARIANT']);
}

/** Runs `action` while `CONCORD_VARIANT` names these variants. */
export async function whileForced<T>(variants: VariantRound, action: () => Promise<T>): Promise<T> {
  const before = process.env['CONCORD_VARIANT'];
  process.env['CONCORD_VARIANT'] = variants.join(',');
  try {
    return await action();
  } finally {
    if (before === undefined) delete process.env['CONCORD_VARIANT'];
    else process.env['CONCORD_VARIANT'] = before;
  }
}

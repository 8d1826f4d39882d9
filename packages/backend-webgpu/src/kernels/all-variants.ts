import { VARIANT_IDS as gemm } from './gemm/plan.ts';
import { matchesGlob } from './variant-choice.ts';

/** The ids of every variant of every family. */
export const ALL_VARIANT_IDS: readonly string[] = [...gemm];

/** Whether an id or a glob means at least one variant. */
export function isVariant(pattern: string): boolean {
  return ALL_VARIANT_IDS.some((id) => matchesGlob(id, pattern));
}

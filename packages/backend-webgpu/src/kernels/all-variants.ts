import { VARIANT_IDS as attention } from './attention/plan.ts';
import { VARIANT_IDS as conv2d } from './conv2d/plan.ts';
import { VARIANT_IDS as elementwise } from './elementwise.ts';
import { VARIANT_IDS as gemm } from './gemm/plan.ts';
import { VARIANT_IDS as reduce } from './reduce/plan.ts';
import { matchesGlob } from './variant-choice.ts';

/** The ids of every variant of every family. */
export const ALL_VARIANT_IDS: readonly string[] = [...gemm, ...conv2d, ...attention, ...reduce, ...elementwise];

/** Whether an id or a glob means at least one variant. */
export function isVariant(pattern: string): boolean {
  return ALL_VARIANT_IDS.some((id) => matchesGlob(id, pattern));
}

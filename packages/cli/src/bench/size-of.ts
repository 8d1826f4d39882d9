import type { BenchCase } from './bench-case.ts';

/** The sizes of a product, a layer or attention, from the id; empty where the title says all. */
export function sizeOf({ id, op }: BenchCase): string {
  return ['unary', 'binary', 'reduce', 'memory'].includes(op) ? '' : (id.split('/')[2] ?? '');
}

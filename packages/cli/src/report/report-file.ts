import type { BenchJson } from '../bench/bench-json.ts';
import type { ConformanceJson } from '../conformance/conformance-json.ts';

/** A report as it was read. */
export type ReportFile =
  | { readonly file: string; readonly kind: 'conformance'; readonly content: readonly ConformanceJson[] }
  | { readonly file: string; readonly kind: 'bench'; readonly content: BenchJson };

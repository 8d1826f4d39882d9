import type { LeftOutVariant } from '@concord/backend-core';
import { BENCH_OPS } from './bench/bench-ops.ts';
import { tuneCases } from './tune/tune-cases.ts';
import type { TunableBackend } from './tune/tune-run.ts';

/** Which kernel variants a device builds. */
export interface VariantTrial {
  /** Those that were built for one of some small calls. */
  readonly built: readonly string[];
  /** Those that do not work here. */
  readonly leftOut: readonly LeftOutVariant[];
}

/** Builds the kernels of every variant that some small calls of each op could take, and runs none. */
export async function tryVariants(backend: TunableBackend, signal: AbortSignal): Promise<VariantTrial> {
  const { tuning } = backend.native;
  const before = backend.variants?.().forced ?? [];
  const tried = new Set<string>();
  const refused = new Map<string, LeftOutVariant>();
  try {
    for (const benchCase of tuneCases('small', BENCH_OPS)) {
      signal.throwIfAborted();
      const { plan } = benchCase.prepare();
      if (plan === undefined || !backend.supports(plan.op, plan.call).ok) continue;
      for (const id of tuning.choices(plan.op, plan.call).flatMap(({ candidates }) => candidates)) {
        tried.add(id);
        tuning.force([id]);
        const reason = await backend.prepare([plan]).then(() => undefined, messageOf);
        if (reason !== undefined) refused.set(id, { id, reason });
      }
    }
  } finally {
    tuning.force(before);
  }
  // What the backend itself says of a variant says more.
  for (const variant of backend.variants?.().leftOut ?? []) refused.set(variant.id, variant);
  return { built: [...tried].filter((id) => !refused.has(id)), leftOut: [...refused.values()] };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

import { BackendError } from '@concord/backend-core';
import { matchesGlob, type VariantSet } from '../variant-choice.ts';

/** The settings that decide between kernel variants on a device, besides the plans. */
export interface TuningOptions {
  /**
   * Ids or globs of kernel variants, such as `gemm/direct` or `conv2d/direct-*`: the first that can compute a call does.
   * For tests and measurements. Default: those in the environment variable `CONCORD_VARIANT`, with commas between.
   */
  readonly variants?: readonly string[] | undefined;
  /**
   * `use`: a profile that `concord tune` has written for this device decides between variants. Default: that of the
   * environment variable `CONCORD_TUNING`, or else `use`.
   */
  readonly tuning?: 'use' | 'ignore' | undefined;
}

/** {@link TuningOptions} with the environment read. */
export interface TuningSettings {
  readonly forced: readonly string[];
  readonly usesProfile: boolean;
}

/** @throws {BackendError} INVALID_ARGUMENT when an id or glob means no variant at all, or for another word than the two */
export function tuningSettings(set: VariantSet, { variants, tuning }: TuningOptions): TuningSettings {
  const forced = variants ?? environmentVariants([set]);
  checkVariants([set], forced, variants === undefined ? 'CONCORD_VARIANT' : 'variants');
  const wish: unknown = tuning ?? (environment('CONCORD_TUNING') || 'use');
  if (wish !== 'use' && wish !== 'ignore') {
    const name = tuning === undefined ? 'CONCORD_TUNING' : 'tuning';
    throw new BackendError('INVALID_ARGUMENT', `${name} must be use or ignore, got ${String(wish)}`);
  }
  // What the caller does to his list afterwards changes nothing.
  return { forced: [...forced], usesProfile: wish === 'use' };
}

/**
 * Checks what `init` of some backends reads of the environment, `CONCORD_VARIANT` and `CONCORD_TUNING`, where there may be no
 * device.
 *
 * @throws {BackendError} INVALID_ARGUMENT when an id or glob means no kernel variant of any of them, or for an unknown word
 */
export function checkTuningEnvironment(sets: readonly VariantSet[]): void {
  checkVariants(sets, environmentVariants(sets), 'CONCORD_VARIANT');
  for (const set of sets) tuningSettings(set, { variants: [] });
}

/**
 * @param source - who names them, for the message
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkVariants(
  sets: readonly VariantSet[],
  variants: unknown,
  source = 'variants',
): asserts variants is readonly string[] {
  if (!Array.isArray(variants) || variants.some((pattern) => typeof pattern !== 'string')) {
    throw new BackendError(
      'INVALID_ARGUMENT',
      `${source} must be a list of ids or globs, got ${JSON.stringify(variants)}`,
    );
  }
  const ids = sets.flatMap((set) => set.ids);
  const unknown = (variants as readonly string[]).find((pattern) => !ids.some((id) => matchesGlob(id, pattern)));
  if (unknown === undefined) return;
  const where = sets.length === 1 ? ` of ${sets[0]?.backend}` : '';
  throw new BackendError(
    'INVALID_ARGUMENT',
    `${source}: no kernel variant${where} is called ${JSON.stringify(unknown)}`,
    {
      hint: `there are ${likeIt(unknown, ids).join(', ')}`,
    },
  );
}

/** The variants of its family, or globs for every family. */
function likeIt(unknown: string, all: readonly string[]): readonly string[] {
  const familyOf = (id: string): string => id.slice(0, id.indexOf('/') + 1);
  const ids = all.filter((id) => familyOf(id) === familyOf(unknown));
  return ids.length > 0 ? ids : [...new Set(all.map((id) => `${familyOf(id)}*`))];
}

/** The value of `CONCORD_VARIANT` for these backends: a pattern without a backend is for all, `webgpu:gemm/*` for one. */
function environmentVariants(sets: readonly VariantSet[]): readonly string[] {
  return (environment('CONCORD_VARIANT') ?? '').split(',').flatMap((entry) => {
    const [, backend, pattern = ''] = /^(?:([^:]*):)?(.*)$/.exec(entry.trim()) ?? [];
    const isOurs = backend === undefined || sets.some((set) => set.backend === backend);
    return pattern === '' || !isOurs ? [] : [pattern];
  });
}

/** A variable of the process, where there is one. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  return process?.env?.[name];
}

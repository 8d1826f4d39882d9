import { BackendError } from '@concord/backend-core';
import { ALL_VARIANT_IDS, isVariant } from '../kernels/all-variants.ts';

/** What decides between kernel variants on a device, besides the plans. */
export interface TuningOptions {
  /**
   * Ids or globs of kernel variants, such as `gemm/tiled-64x64x16` or `conv2d/direct-*`: the first that can compute a call
   * does. For tests and measurements. Default: those in the environment variable `CONCORD_VARIANT`, with commas between.
   */
  readonly variants?: readonly string[] | undefined;
  /**
   * Whether a profile that `concord tune` has written for this device decides between variants. Default: that of the
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
export function tuningSettings({ variants, tuning }: TuningOptions): TuningSettings {
  const forced = variants ?? listOf(environment('CONCORD_VARIANT'));
  checkVariants(forced, variants === undefined ? 'CONCORD_VARIANT' : 'variants');
  const wish: unknown = tuning ?? (environment('CONCORD_TUNING') || 'use');
  if (wish !== 'use' && wish !== 'ignore') {
    const name = tuning === undefined ? 'CONCORD_TUNING' : 'tuning';
    throw new BackendError('INVALID_ARGUMENT', `${name} must be use or ignore, got ${String(wish)}`);
  }
  // What the caller does to his list afterwards changes nothing.
  return { forced: [...forced], usesProfile: wish === 'use' };
}

/**
 * Checks what `init` reads of the environment, `CONCORD_VARIANT` and `CONCORD_TUNING`, where there may be no device.
 *
 * @throws {BackendError} INVALID_ARGUMENT when an id or glob means no kernel variant of this backend, or for an unknown word
 */
export function checkTuningEnvironment(): void {
  tuningSettings({});
}

/**
 * @param source - who names them, for the message
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkVariants(variants: unknown, source = 'variants'): asserts variants is readonly string[] {
  if (!Array.isArray(variants) || variants.some((pattern) => typeof pattern !== 'string')) {
    throw new BackendError(
      'INVALID_ARGUMENT',
      `${source} must be a list of ids or globs, got ${JSON.stringify(variants)}`,
    );
  }
  const unknown = (variants as readonly string[]).find((pattern) => !isVariant(pattern));
  if (unknown === undefined) return;
  throw new BackendError('INVALID_ARGUMENT', `${source}: no kernel variant is called ${JSON.stringify(unknown)}`, {
    hint: `there are ${likeIt(unknown).join(', ')}`,
  });
}

/** The variants of its family, or globs for every family. */
function likeIt(unknown: string): readonly string[] {
  const familyOf = (id: string): string => id.slice(0, id.indexOf('/') + 1);
  const ids = ALL_VARIANT_IDS.filter((id) => familyOf(id) === familyOf(unknown));
  return ids.length > 0 ? ids : [...new Set(ALL_VARIANT_IDS.map((id) => `${familyOf(id)}*`))];
}

function listOf(ids = ''): readonly string[] {
  return ids
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
}

/** A variable of the process, where there is one. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  return process?.env?.[name];
}

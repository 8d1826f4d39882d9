import type { OpName, OpShape } from '@concord/backend-core';
import type { VariantPick } from '../variant-choice.ts';
import type { ProfileState } from './device-tuning.ts';
import type { TuningProfile } from './profile.ts';

/**
 * The choice between kernel variants, for those who measure them: `native.tuning` of a backend that has some.
 *
 * @throws {BackendError} INVALID_ARGUMENT from `force` for an id or glob that means no variant
 */
export interface VariantTuning {
  /**
   * The choices that a call of this shape makes: one, or one for each part of a call too large for one binding.
   *
   * @throws {BackendError} INVALID_ARGUMENT or UNSUPPORTED, as the call itself
   */
  choices<Op extends OpName>(op: Op, shape: OpShape<Op>): readonly VariantPick[];
  /**
   * Takes the first of these ids or globs that can compute a call from now on; none of them takes back what was forced.
   */
  force(variants: readonly string[]): void;
  /**
   * Adds these choices to those in use, and keeps all for this device in the user's cache folder; Node only.
   *
   * @returns the path of the file
   * @throws {Error} of the file system
   */
  save(measurements: Pick<TuningProfile, 'choices' | 'measured'>): string;
  /**
   * Finds out before a long measurement whether `save` can write.
   *
   * @throws {Error} of the file system
   */
  checkCanSave(): void;
  /** The outcome of reading the profile when the device was opened. */
  readonly profile: ProfileState;
}

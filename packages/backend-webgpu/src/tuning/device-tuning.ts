import { BackendError, type DeviceInfo } from '@concord/backend-core';
import { findProfile, storeProfile } from '#profile-store';
import { isVariant } from '../kernels/all-variants.ts';
import { NOTHING_TUNED, type VariantPreferences } from '../kernels/variant-choice.ts';
import { VERSION } from '../version.ts';
import type { TuningProfile } from './profile.ts';

/** What decides between kernel variants on a device, besides the plans. */
export interface TuningOptions {
  /**
   * Ids or globs of kernel variants, such as `gemm/tiled-64x64x16` or `conv2d/direct-*`: the first that can compute a call
   * does. For tests and measurements. Default: those in the environment variable `CONCORD_VARIANT`, with commas between.
   */
  readonly variants?: readonly string[] | undefined;
  /**
   * Whether a profile that `concord tune` has written for this device decides between variants. Default: `use`, unless the
   * environment variable `CONCORD_TUNING` is `ignore`.
   */
  readonly tuning?: 'use' | 'ignore' | undefined;
}

/** What became of the profile of a device. */
export interface ProfileState {
  /** `none`: nobody has tuned this device. `ignored`: there is a file that is of no use, or it is not wanted. */
  readonly state: 'used' | 'none' | 'ignored';
  /** Where it is, or would be; absent where there are no files. */
  readonly path?: string;
  /** How many shape classes it decides, when it was made, or why it is ignored. */
  readonly detail: string;
}

/** Forced variants, and the profile of a device. */
export class DeviceTuning {
  readonly preferences: VariantPreferences;
  readonly profile: ProfileState;
  readonly #device: TuningProfile['device'];
  #measured: TuningProfile['measured'];

  /** @throws {BackendError} INVALID_ARGUMENT when a forced id or glob means no variant at all */
  constructor({ vendor, name, driver }: DeviceInfo, options: TuningOptions) {
    this.#device = { vendor, name, driver };
    const forced = options.variants ?? listOf(environment('CONCORD_VARIANT'));
    checkVariants(forced);
    const wish = options.tuning ?? environment('CONCORD_TUNING');
    const { tuned, measured, ...profile } = wish === 'ignore' ? UNWANTED : this.#find();
    this.profile = profile;
    this.preferences = { forced, tuned };
    this.#measured = measured;
  }

  /** Takes these where they can compute an op, in place of those that were forced before. */
  force(variants: readonly string[]): void {
    checkVariants(variants);
    this.preferences.forced = variants;
  }

  /**
   * Adds choices to those in use, or puts them in their place, and writes all to the profile of the device.
   *
   * @returns the path
   * @throws {Error} of the file system, after which they are used all the same
   */
  save({ choices, measured }: Pick<TuningProfile, 'choices' | 'measured'>): string {
    this.preferences.tuned = { ...this.preferences.tuned, ...choices };
    this.#measured = { ...this.#measured, ...measured };
    return storeProfile({
      format: 'concord-webgpu-profile',
      version: 1,
      backendVersion: VERSION,
      device: this.#device,
      tunedAt: new Date().toISOString(),
      choices: this.preferences.tuned,
      measured: this.#measured,
    });
  }

  #find(): ProfileState & Measurements {
    const found = findProfile({ backendVersion: VERSION, device: this.#device });
    if (found === undefined) return { state: 'none', detail: 'there are no files here', ...NO_MEASUREMENTS };
    const { path, profile, problem } = found;
    if (problem !== undefined) {
      return { state: 'ignored', path, detail: `it ${problem}`, ...NO_MEASUREMENTS };
    }
    if (profile === undefined) return { state: 'none', path, detail: 'concord tune makes one', ...NO_MEASUREMENTS };
    const { choices, measured, tunedAt } = profile;
    const detail = `${Object.keys(choices).length} shape classes, ${tunedAt}`;
    return { state: 'used', path, detail, tuned: choices, measured };
  }
}

interface Measurements {
  readonly tuned: VariantPreferences['tuned'];
  readonly measured: TuningProfile['measured'];
}

const NO_MEASUREMENTS: Measurements = { tuned: NOTHING_TUNED, measured: {} };
const UNWANTED = { state: 'ignored', detail: 'tuning is off', ...NO_MEASUREMENTS } as const;

function checkVariants(variants: readonly string[]): void {
  const unknown = variants.find((pattern) => !isVariant(pattern));
  if (unknown === undefined) return;
  throw new BackendError('INVALID_ARGUMENT', `no kernel variant is called ${JSON.stringify(unknown)}`, {
    hint: 'ids look like gemm/tiled-64x64x16; `concord conformance --json` counts those that ran',
  });
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

import { BackendError, type DeviceInfo, type ExcludedVariant } from '@concord/backend-core';
import { checkCanStore, findProfile, storeProfile } from '#profile-store';
import {
  matchesGlob,
  NOTHING_TUNED,
  type ShippedProfile,
  type VariantPreferences,
  type VariantSet,
} from '../variant-choice.ts';
import { profileFormat, type ProfileMaker, type TuningProfile } from './profile.ts';
import { checkVariants, type TuningOptions, tuningSettings } from './tuning-settings.ts';

/** The state of a device's profile. */
export interface ProfileState {
  /**
   * `shipped`: this device was not tuned here, and the profile is the one that the backend has for it. `none`: there is no
   * such profile either. `ignored`: there is a file that is of no use, or it is not wanted.
   */
  readonly state: 'used' | 'shipped' | 'none' | 'ignored';
  /** The path of the profile, whether it exists or not; absent without files. */
  readonly path?: string;
  /** The number of shape classes that it decides, the time when it was made, or the reason why it is ignored. */
  readonly detail: string;
}

/** Forced variants, the profile of a device, and the variants that do not work on it. */
export class DeviceTuning {
  readonly preferences: VariantPreferences;
  readonly profile: ProfileState;
  readonly #set: VariantSet;
  readonly #maker: ProfileMaker;

  /** @throws {BackendError} INVALID_ARGUMENT when a forced id or glob means no variant at all */
  constructor(set: VariantSet, { vendor, name, driver }: DeviceInfo, options: TuningOptions) {
    this.#set = set;
    this.#maker = { backend: set.backend, backendVersion: set.version, device: { vendor, name, driver } };
    const { forced, usesProfile } = tuningSettings(set, options);
    const shipped = set.shipped?.find(({ device }) => device.vendor === vendor && device.name === name);
    const found = usesProfile ? this.#find() : UNWANTED;
    const { state, path, detail } = usesProfile && found.state !== 'used' ? stateOf(shipped, found) : found;
    this.profile = { state, detail, ...(path === undefined ? {} : { path }) };
    this.preferences = { forced, tuned: usesProfile ? { ...shipped?.choices, ...found.tuned } : found.tuned };
  }

  /** The variants that are not used on this device. */
  get excluded(): readonly ExcludedVariant[] {
    return [...(this.preferences.excluded?.values() ?? [])];
  }

  /** Takes these where they can compute an op, instead of those that were forced before. */
  force(variants: readonly string[]): void {
    checkVariants([this.#set], variants);
    this.preferences.forced = [...variants];
  }

  /**
   * Never takes these variants again on this device.
   *
   * @param pattern - an id or a glob
   * @param why - `reason`, a few words such as `the trial gave 3 instead of 4`; `log`, what a compiler said
   * @throws {BackendError} INVALID_ARGUMENT when it means no variant at all
   */
  exclude(pattern: string, why: Omit<ExcludedVariant, 'id'>): void {
    const ids = this.#set.ids.filter((id) => matchesGlob(id, pattern));
    if (ids.length === 0) throw new BackendError('INVALID_ARGUMENT', `no kernel variant is called ${pattern}`);
    const excluded = new Map(this.preferences.excluded);
    for (const id of ids) if (!excluded.has(id)) excluded.set(id, { id, ...why });
    // Plans that were made with another map are forgotten.
    this.preferences.excluded = excluded;
  }

  /**
   * Uses these choices from now on, and adds them to the profile of the device or puts them in the place of those that it has.
   *
   * @returns the path
   * @throws {Error} of the file system, after which they are used all the same
   */
  save({ choices, measured }: Pick<TuningProfile, 'choices' | 'measured'>): string {
    // As it is by now, and also where it is not used here.
    const kept = this.#find();
    this.preferences.tuned = { ...this.preferences.tuned, ...choices };
    const { backend, backendVersion, device } = this.#maker;
    return storeProfile(backend, {
      format: profileFormat(backend),
      version: 1,
      backendVersion,
      device,
      tunedAt: new Date().toISOString(),
      choices: { ...kept.tuned, ...choices },
      measured: { ...kept.measured, ...measured },
    });
  }

  /** @throws {Error} of the file system where `save` could not write */
  checkCanSave(): void {
    checkCanStore(this.#maker.backend);
  }

  #find(): Found {
    const found = findProfile(this.#maker);
    if (found === undefined) return { state: 'none', detail: 'there are no files here', ...NO_MEASUREMENTS };
    const { path, profile, problem } = found;
    if (problem !== undefined) {
      return { state: 'ignored', path, detail: `it ${problem}`, ...NO_MEASUREMENTS };
    }
    if (profile === undefined) return { state: 'none', path, detail: 'concord tune makes one', ...NO_MEASUREMENTS };
    const { choices, measured, tunedAt } = profile;
    const detail = `${Object.keys(choices).length} shape classes, ${tunedAt.slice(0, 10)}`;
    return { state: 'used', path, detail, tuned: choices, measured };
  }
}

/** Returns the state that a shipped profile gives a device without one of its user. */
function stateOf(shipped: ShippedProfile | undefined, found: ProfileState): ProfileState {
  if (shipped === undefined) return found;
  const classes = `${Object.keys(shipped.choices).length} shape classes, ${shipped.tunedAt}`;
  if (found.state === 'ignored') return { ...found, detail: `${found.detail}; what is shipped is used: ${classes}` };
  return { state: 'shipped', detail: `${classes}; concord tune measures this machine` };
}

interface Found extends ProfileState {
  readonly tuned: VariantPreferences['tuned'];
  readonly measured: TuningProfile['measured'];
}

const NO_MEASUREMENTS = { tuned: NOTHING_TUNED, measured: {} } as const;
const UNWANTED: Found = { state: 'ignored', detail: 'CONCORD_TUNING or an option says so', ...NO_MEASUREMENTS };

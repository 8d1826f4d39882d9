import type { DeviceInfo } from '@concord/backend-core';
import type { TunableBackend, TunedClass } from './tune-run.ts';

/** The JSON that `concord tune --json` writes. */
export interface TuneJson {
  readonly backend: string;
  readonly device: DeviceInfo;
  /** The profile that was written, or null. */
  readonly profile: string | null;
  readonly classes: readonly TuneClassJson[];
}

/** One shape class of {@link TuneJson}. */
export interface TuneClassJson extends Omit<TunedClass, 'benchCase'> {
  /** The case that stood for it. */
  readonly case: string;
}

/** The outcome of a run without what only people need. */
export function toTuneJson(
  { name, device }: TunableBackend,
  classes: readonly TunedClass[],
  profile: string | undefined,
): TuneJson {
  return {
    backend: name,
    device,
    profile: profile ?? null,
    classes: classes.map(({ benchCase, ...tuned }) => ({ case: benchCase.id, ...tuned })),
  };
}

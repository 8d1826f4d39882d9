import { BackendError, type ExcludedVariant } from '@concord/backend-core';

/** The kernel variants of a backend, by whose name and version profiles and messages know them. */
export interface VariantSet {
  /** Name of the backend, such as `webgpu`. */
  readonly backend: string;
  /** Version of the backend. */
  readonly version: string;
  /** The ids of every variant of every family, such as `gemm/tiled-64x64x16`. */
  readonly ids: readonly string[];
  /** The findings of `concord tune` on devices that the backend's authors have measured. */
  readonly shipped?: readonly ShippedProfile[];
}

/** Choices that come with a backend. A user's own profile goes first. */
export interface ShippedProfile {
  /** The backend's names for the device; with any driver. */
  readonly device: { readonly vendor: string; readonly name: string };
  /** The driver that they were measured with. */
  readonly driver: string;
  /** The day, as `2026-01-31`. */
  readonly tunedAt: string;
  /** The fastest variant by shape class, where it is not the plan's own choice. */
  readonly choices: Readonly<Record<string, string>>;
}

/** The variants to take if a plan could take several. To change one of these, put another object there. */
export interface VariantPreferences {
  /** Ids or globs, such as `gemm/tiled-64x64x16` or `conv2d/direct-*`. The first that names a candidate decides. */
  forced: readonly string[];
  /** Ids by shape class, as measured on this device. Where a shape class is missing the plan decides. */
  tuned: Readonly<Record<string, string>>;
  /** Variants that do not work on this device, by id: never taken. */
  excluded?: ReadonlyMap<string, ExcludedVariant> | undefined;
}

/** One way to compute an op: an entry of a family's table. */
export interface NamedVariant {
  /** Family and name, such as `gemm/tiled-64x64x16`. */
  readonly id: string;
}

/** The facts by which a plan decides with {@link pickVariant}. */
export interface VariantQuestion<Variant extends NamedVariant> {
  /** Calls of one class are served best by the same variant: the family, the dtype, sizes rounded to powers of two. */
  readonly shapeClass: () => string;
  /**
   * Every variant that gives the right result for this shape on this device; not empty. Where the preferred one is left
   * out, the first of the others is taken.
   */
  readonly candidates: readonly Variant[];
  /** The one to take without further knowledge. */
  readonly preferred: Variant;
}

/** The question and the decision; see {@link VariantChooser.notePick}. */
export interface VariantPick {
  readonly shapeClass: string;
  /** The candidates that are not excluded on this device. */
  readonly candidates: readonly string[];
  /** The plan's own choice. */
  readonly preferred: string;
  readonly picked: string;
}

/** The source of a plan's choices: a recorder, or what stands in for it. */
export interface VariantChooser {
  readonly traits: { readonly preferences?: VariantPreferences | undefined };
  notePick?(pick: VariantPick): void;
}

/** Spares plans the shape class where nothing has been measured. */
export const NOTHING_TUNED: VariantPreferences['tuned'] = Object.freeze({});

/**
 * A candidate: the forced one, else the one that was measured to be the fastest, else the plan's own choice; none that is left
 * out on this device.
 *
 * @throws {BackendError} DEVICE_ERROR when all candidates are excluded
 */
export function pickVariant<Variant extends NamedVariant>(
  chooser: VariantChooser,
  question: VariantQuestion<Variant>,
): Variant {
  const { preferences } = chooser.traits;
  const usable = withoutExcluded(question, preferences?.excluded);
  const picked = pick(preferences, usable);
  chooser.notePick?.({
    shapeClass: usable.shapeClass(),
    candidates: usable.candidates.map(({ id }) => id),
    preferred: usable.preferred.id,
    picked: picked.id,
  });
  return picked;
}

function withoutExcluded<Variant extends NamedVariant>(
  question: VariantQuestion<Variant>,
  excluded: VariantPreferences['excluded'],
): VariantQuestion<Variant> {
  if (excluded === undefined) return question;
  const { shapeClass } = question;
  const candidates = question.candidates.filter(({ id }) => !excluded.has(id));
  const preferred = excluded.has(question.preferred.id) ? candidates[0] : question.preferred;
  if (preferred !== undefined) return { shapeClass, candidates, preferred };
  const why = question.candidates.map(({ id }) => `${id}: ${excludedText(excluded.get(id) as ExcludedVariant)}`);
  throw new BackendError('DEVICE_ERROR', `no kernel variant works for ${shapeClass()}: ${why.join('; ')}`);
}

/** Why a variant is excluded, with what the compiler said. */
function excludedText({ reason, log = '' }: ExcludedVariant): string {
  return log === '' ? reason : `${reason}: ${log}`;
}

function pick<Variant extends NamedVariant>(
  preferences: VariantPreferences | undefined,
  { shapeClass, candidates, preferred }: VariantQuestion<Variant>,
): Variant {
  if (preferences === undefined) return preferred;
  for (const pattern of preferences.forced) {
    const forced = candidates.find(({ id }) => matchesGlob(id, pattern));
    if (forced !== undefined) return forced;
  }
  if (preferences.tuned === NOTHING_TUNED) return preferred;
  const tuned = preferences.tuned[shapeClass()];
  return candidates.find(({ id }) => id === tuned) ?? preferred;
}

const patterns = new Map<string, RegExp>();

/** Returns whether an id matches a pattern in which `*` stands for any characters. */
export function matchesGlob(id: string, pattern: string): boolean {
  let regExp = patterns.get(pattern);
  if (regExp === undefined) {
    const literals = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
    regExp = new RegExp(`^${literals.join('.*')}$`);
    patterns.set(pattern, regExp);
  }
  return regExp.test(id);
}

/** A size as shape classes tell it: the exponent of the next power of two. */
export function sizeStep(size: number): number {
  return Math.ceil(Math.log2(Math.max(1, size)));
}

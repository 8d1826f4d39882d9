import type { DeviceTraits } from './recorder.ts';

/** Which variants to take where a plan could take several. */
export interface VariantPreferences {
  /** Ids or globs, such as `gemm/tiled-64x64x16` or `conv2d/direct-*`. The first that names a candidate decides. */
  forced: readonly string[];
  /** Ids by shape class, as measured on this device. Where a shape class is missing the plan decides. */
  tuned: Readonly<Record<string, string>>;
}

/** One way to compute an op: an entry of a family's table. */
export interface NamedVariant {
  /** Family and name, such as `gemm/tiled-64x64x16`. */
  readonly id: string;
}

/** What a plan decides with {@link pickVariant}. */
export interface VariantQuestion<Variant extends NamedVariant> {
  /** Calls of one class are served best by the same variant: the family, the dtype, sizes rounded to powers of two. */
  readonly shapeClass: () => string;
  /** Every variant that gives the right result for this shape on this device; not empty. */
  readonly candidates: readonly Variant[];
  /** The one to take without further knowledge. */
  readonly preferred: Variant;
}

/** What was asked and decided; see `Recorder.notePick`. */
export interface VariantPick {
  readonly shapeClass: string;
  readonly candidates: readonly string[];
  /** What the plan would take by itself. */
  readonly preferred: string;
  readonly picked: string;
}

/** Where plans ask: a recorder, or what stands in for it. */
export interface VariantChooser {
  readonly traits: DeviceTraits;
  notePick?(pick: VariantPick): void;
}

/** A candidate: the forced one, else the one that was measured to be the fastest, else the plan's own choice. */
export function pickVariant<Variant extends NamedVariant>(
  chooser: VariantChooser,
  question: VariantQuestion<Variant>,
): Variant {
  const picked = pick(chooser.traits.preferences, question);
  chooser.notePick?.({
    shapeClass: question.shapeClass(),
    candidates: question.candidates.map(({ id }) => id),
    preferred: question.preferred.id,
    picked: picked.id,
  });
  return picked;
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

/** Spares plans the shape class where nothing has been measured. */
export const NOTHING_TUNED: VariantPreferences['tuned'] = Object.freeze({});

const patterns = new Map<string, RegExp>();

/** Whether an id matches a pattern in which `*` stands for any characters. */
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

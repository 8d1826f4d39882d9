import { type AskedRun, hashOf, inFull, isSame } from './asked-run.ts';
import { checkRun } from './check-run.ts';
import type { CheckedRun } from './checked-run.ts';
import type { Kernel } from './graph.ts';

/**
 * Of each of two generations: a program that makes ever new calls does not drive out what others make again. A geometry
 * has an entry for the words in which it was asked for, and one for it in full.
 */
const MAX_KEPT = 1024;

/** A geometry as a call asked for it, and what the rules made of it. */
interface Known {
  readonly asked: AskedRun;
  readonly checked: CheckedRun;
}

/** By the hash of what was asked for. */
type Generation = Map<number, Known[]>;

/** The geometries that one kernel was asked for. */
class KnownRuns {
  readonly #kernel: Kernel;
  #young: Generation = new Map();
  #older: Generation = new Map();
  #size = 0;
  #last: Known | undefined;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  of(asked: AskedRun): CheckedRun {
    // Programs mostly ask for what they asked for last: a comparison costs less than a hash.
    const last = this.#last;
    if (last !== undefined && isSame(this.#kernel, last.asked, asked)) return last.checked;
    const hash = hashOf(this.#kernel, asked);
    const found = this.#find(this.#young, hash, asked) ?? this.#renew(hash, asked);
    this.#last = found;
    return found.checked;
  }

  /** Adds what the young generation does not have, also in full: other words for it are to find the same object. */
  #renew(hash: number, asked: AskedRun): Known {
    const older = this.#find(this.#older, hash, asked);
    const own = older?.asked ?? asked;
    const checked = older?.checked ?? checkRun(this.#kernel, own);
    this.#makeRoom();
    const full = inFull(checked);
    const fullHash = hashOf(this.#kernel, full);
    const plain =
      this.#find(this.#young, fullHash, full) ??
      this.#add(fullHash, this.#find(this.#older, fullHash, full) ?? { asked: full, checked });
    return this.#add(hash, { asked: own, checked: plain.checked });
  }

  #find(generation: Generation, hash: number, asked: AskedRun): Known | undefined {
    const bucket = generation.get(hash);
    if (bucket === undefined) return undefined;
    for (const known of bucket) if (isSame(this.#kernel, known.asked, asked)) return known;
    return undefined;
  }

  #makeRoom(): void {
    if (this.#size < MAX_KEPT) return;
    this.#older = this.#young;
    this.#young = new Map();
    this.#size = 0;
  }

  #add(hash: number, known: Known): Known {
    const bucket = this.#young.get(hash);
    if (bucket === undefined) this.#young.set(hash, [known]);
    else bucket.push(known);
    this.#size++;
    return known;
  }
}

const runsOf = new WeakMap<Kernel, KnownRuns>();

/**
 * The checked geometry of a call; the same object for the same geometry, unless some hundred others were asked for since.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkedRun(kernel: Kernel, asked: AskedRun): CheckedRun {
  let runs = runsOf.get(kernel);
  if (runs === undefined) {
    runs = new KnownRuns(kernel);
    runsOf.set(kernel, runs);
  }
  return runs.of(asked);
}

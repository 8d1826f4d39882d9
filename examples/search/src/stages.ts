/** The parts of a search, in order. */
export const STAGES = ['read', 'cut', 'vectorise', 'upload', 'normalise', 'score', 'rank', 'check'] as const;

/** One of {@link STAGES}. */
export type Stage = (typeof STAGES)[number];

/** Adds up the time that each stage takes. */
export class StageTimes {
  readonly #ms: Partial<Record<Stage, number>> = {};

  /** Runs a part of a stage. */
  measure<T>(stage: Stage, work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      this.#add(stage, start);
    }
  }

  /** Runs a part of a stage that ends with a promise. */
  async measureAsync<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.#add(stage, start);
    }
  }

  /** Milliseconds of each stage that ran. */
  get ms(): Readonly<Partial<Record<Stage, number>>> {
    return this.#ms;
  }

  #add(stage: Stage, start: number): void {
    this.#ms[stage] = (this.#ms[stage] ?? 0) + performance.now() - start;
  }
}

/** Parameters of a case of `run`. */
export type RunParams = {
  /** The name of a kernel that is written out, or an operation; empty for a drawn graph. */
  readonly kernel: string;
  /** Type of the operands where the kernel is made for one. */
  readonly type: string;
  readonly shape: readonly number[];
  /** How many of the last axes are folded. */
  readonly folded: number;
  /** What the inputs hold. */
  readonly data: string;
  /** How the operands lie in memory: a kind of view, or `mixed`. */
  readonly views: string;
  /** Element type in memory: `own`, a dtype for all operands that can have it, or `mixed`. */
  readonly dtype: string;
  /** How the operands lie to each other. */
  readonly place: string;
  /** Elements by which operands are moved off the alignment of their allocation. */
  readonly offset: number;
  /** Of a drawn graph: `float` or `exact`. */
  readonly style: string;
  /** Of a drawn graph: the steps that are stored. */
  readonly roots: readonly number[];
  readonly seed: number;
};

export const RUN_DEFAULTS: RunParams = {
  kernel: '',
  type: 'f32',
  shape: [],
  folded: 0,
  data: 'small',
  views: 'dense',
  dtype: 'own',
  place: 'apart',
  offset: 0,
  style: 'float',
  roots: [],
  seed: 0,
};

/** Parameters of a case of `run`. */
export type RunParams = {
  /** The name of a kernel that is written out, or an operation; empty for a drawn graph. */
  readonly kernel: string;
  /** Type of the operands where the kernel is made for one. */
  readonly type: string;
  readonly shape: readonly number[];
  /** The number of last axes that are folded. */
  readonly folded: number;
  /** The contents of the inputs. */
  readonly data: string;
  /** The layout of the operands in memory: a kind of view, or `mixed`. */
  readonly views: string;
  /** Element type in memory: `own`, a dtype for all operands that can have it, or `mixed`. */
  readonly dtype: string;
  /** The position of the operands relative to each other. */
  readonly place: string;
  /** Elements by which operands are moved off the alignment of their allocation. */
  readonly offset: number;
  /** Of a drawn graph: `float` or `exact`. */
  readonly style: string;
  /** Of a drawn graph: the mode in which its first output is written by index; empty: it is not. */
  readonly scatter: string;
  /** Of a drawn graph: the scan of its first output, such as `sum`, `exclusive sum` or `reverse max`; empty: it is not scanned. */
  readonly scan: string;
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
  scatter: '',
  scan: '',
  roots: [],
  seed: 0,
};

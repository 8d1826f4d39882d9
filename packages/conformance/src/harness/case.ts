import type { ComputeBackend, DType, OpName } from '@concord/backend-core';
import type { Params } from './case-id.ts';
import type { CaseText } from './case-text.ts';
import type { Random } from './random.ts';

/** The subject of a case: an op, one of the two parts of the contract that are not ops, or programs of all of them. */
export type CaseSubject = OpName | 'memory' | 'lifecycle' | 'program';

/** The requirements of a case on a backend; without it the case is `unsupported`, and the call must throw `UNSUPPORTED`. */
export interface Needs {
  readonly op: OpName;
  readonly dtype: DType;
  /** The whole call without its pointers, where the case makes one call of the op: it is what `supports` is asked. */
  readonly shape?: Readonly<Record<string, unknown>>;
  /** A call that must be refused where `supports` says no. Default: `shape`, or the op's sample, with that dtype. */
  readonly call?: (backend: ComputeBackend) => void;
}

/** Elements that a case compared with intervals. */
export interface Tally {
  elements: number;
  /** Those about which the oracle knew nothing useful: anything would do, or nearly. */
  loose: number;
}

/** The context of a running case. */
export interface CaseContext {
  /** Initialized, shared by the cases of a run. */
  readonly backend: ComputeBackend;
  /** Seeded by the id of the case. */
  readonly random: Random;
  /** Counts what the oracle knew of the results. */
  readonly tally: Tally;
  /** A separate backend object, not initialized; disposed after the case. */
  readonly create: () => Promise<ComputeBackend>;
}

/** A check of the contract, as data. */
export interface ConformanceCase {
  /** Stable, such as `gemm/exact/m=17,n=33,k=65,TN`. */
  readonly id: string;
  readonly op: CaseSubject;
  readonly params: Params;
  readonly needs?: Needs;
  /** The description of the case, in words. */
  readonly about?: () => CaseText;
  /** Resolves when the backend behaves; rejects with what it did wrong. */
  run(context: CaseContext): Promise<void>;
}

/** Where a result first leaves the wanted one, as numbers: what the message says in words. */
export interface Mismatch {
  /** The compared output, such as `c`. */
  readonly what: string;
  readonly unit: 'element' | 'byte';
  /** The number of those of `total` that are wrong. */
  readonly wrong: number;
  readonly total: number;
  /** The first that is wrong. */
  readonly index: number;
  readonly got: number;
  readonly want: number;
  /** Largest absolute error allowed there; 0: the wanted value itself. */
  readonly bound: number;
  /** Distance from the wanted value in units in its last place; left out where there is none. */
  readonly ulp?: number;
  /** The origin of the value, such as `exp(88.73)`. */
  readonly inputs?: string;
}

/** A wrong answer. Its message is the report's `detail`. */
export class CaseFailure extends Error {
  override readonly name = 'CaseFailure';
  readonly mismatch: Mismatch | undefined;

  constructor(message: string, mismatch?: Mismatch) {
    super(message);
    this.mismatch = mismatch;
  }
}

/** A call that the backend declares unsupported and refuses: its case counts as `unsupported`, with the reason. */
export class UnsupportedCall extends Error {
  override readonly name = 'UnsupportedCall';
}

/** @throws {CaseFailure} unless the condition holds */
export function expectThat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new CaseFailure(message);
}

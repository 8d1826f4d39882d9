import type { ComputeBackend, DType, OpName } from '@concord/backend-core';
import type { Params } from './case-id.ts';
import type { Random } from './random.ts';

/** What a case belongs to: an op, or one of the two parts of the contract that are not ops. */
export type CaseSubject = OpName | 'memory' | 'lifecycle';

/** What a case needs of a backend; without it the case is `unsupported`, and the call must throw `UNSUPPORTED`. */
export interface Needs {
  readonly op: OpName;
  readonly dtype: DType;
}

/** What a running case gets. */
export interface CaseContext {
  /** Initialized, shared by the cases of a run. */
  readonly backend: ComputeBackend;
  /** Seeded by the id of the case. */
  readonly random: Random;
  /** A backend object of its own, not initialized; disposed after the case. */
  readonly create: () => Promise<ComputeBackend>;
}

/** A check of the contract, as data. */
export interface ConformanceCase {
  /** Stable, such as `gemm/exact/m=17,n=33,k=65,TN`. */
  readonly id: string;
  readonly op: CaseSubject;
  readonly params: Params;
  readonly needs?: Needs;
  /** Resolves when the backend behaves; rejects with what it did wrong. */
  run(context: CaseContext): Promise<void>;
}

/** A wrong answer. Its message is the report's `detail`. */
export class CaseFailure extends Error {
  override readonly name = 'CaseFailure';
}

/** @throws {CaseFailure} unless the condition holds */
export function expectThat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new CaseFailure(message);
}

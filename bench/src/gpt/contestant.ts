import type { FloatDType } from '@concord/backend-core';
import type { PreparedModel } from '../models/measure.ts';
import type { ContestantResult } from '../results.ts';
import type { GptCase } from './cases.ts';

/** A model on a device. */
export interface GptModel {
  /** What is compared are the logits `[batch, vocabulary]`. @throws {NotOffered} where it has nothing for this work */
  prepare(gptCase: GptCase): Promise<PreparedModel>;
  close(): Promise<void>;
}

/** Who runs the model. */
export interface GptContestant extends ContestantResult {
  /** Puts the weights of that type on the device. @throws {NotOffered} where it has no such type */
  readonly load: (config: GptCase['config'], dtype: FloatDType) => Promise<GptModel>;
}

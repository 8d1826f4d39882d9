import type { FloatDType } from '@concord/backend-core';
import type { ContestantResult } from '../results.ts';
import type { GptCase } from './cases.ts';

/** A case made ready on a device. */
export interface PreparedGpt {
  /** Does the work so many times and waits for all of it. @returns milliseconds of handing it over, where they are known */
  calls(count: number): Promise<number | undefined>;
  /** Once more: the logits behind the last token of each text, `[batch, vocabulary]`. */
  logits(): Promise<Float32Array>;
  close(): Promise<void>;
}

/** A model on a device. */
export interface GptModel {
  /** @throws {NotOffered} where it has nothing for this work */
  prepare(gptCase: GptCase): Promise<PreparedGpt>;
  close(): Promise<void>;
}

/** Who runs the model. */
export interface GptContestant extends ContestantResult {
  /** Puts the weights of that type on the device. @throws {NotOffered} where it has no such type */
  readonly load: (config: GptCase['config'], dtype: FloatDType) => Promise<GptModel>;
}

import type { ComputeBackend } from '@concord/backend-core';
import { readFile } from 'node:fs/promises';
import type { Architecture } from './architecture.ts';
import { classify, noiseImages, type Weights } from './network.ts';

/** Largest difference from the reference that passes, relative to its greatest score. */
export const TOLERANCE = 1e-5;

/** The results of `limits/resnet_reference.py` in float64. */
interface Reference {
  /** Width and height of the image. */
  readonly size: number;
  readonly scores: readonly number[];
}

/** The comparison of the scores of a small image with those of the reference. */
export interface CheckResult {
  readonly passed: boolean;
  readonly scores: number;
  readonly size: number;
  /** Relative to the greatest score. */
  readonly difference: number;
}

/** Classifies the image of the reference, and compares. */
export async function checkScores(
  backend: ComputeBackend,
  architecture: Architecture,
  weights: Weights,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { size, scores } = await readReference();
  using images = noiseImages(backend, 1, size);
  using result = classify(architecture, weights, images);
  return { ...compare(await result.toArray({ signal }), scores), size };
}

/** @param got - scores, as many as are wanted */
export function compare(got: ArrayLike<number>, want: readonly number[]): Omit<CheckResult, 'size'> {
  const scale = Math.max(...want.map(Math.abs));
  const differences = want.map((score, index) => Math.abs((got[index] as number) - score) / scale);
  const difference = Math.max(...differences);
  return { passed: got.length === want.length && difference <= TOLERANCE, scores: want.length, difference };
}

async function readReference(): Promise<Reference> {
  const file = new URL('../../limits/resnet-scores.json', import.meta.url);
  return JSON.parse(await readFile(file, 'utf8')) as Reference;
}

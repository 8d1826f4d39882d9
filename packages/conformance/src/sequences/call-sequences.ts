import type { ConformanceCase } from '../harness/case.ts';
import { attentionSequences } from './attention.ts';
import { conv2dSequences } from './conv2d.ts';
import { derivedSequences } from './derived.ts';
import { productSequences } from './product.ts';

/** Calls of each op one after the other that differ in one field, or in where their operands are. */
export const callSequenceCases: readonly ConformanceCase[] = [
  ...productSequences,
  ...conv2dSequences,
  ...attentionSequences,
  ...derivedSequences,
];

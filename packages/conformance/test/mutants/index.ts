import { attentionMutants } from './attention.ts';
import { attentionFieldMutants } from './attention-fields.ts';
import { conv2dMutants } from './conv2d.ts';
import { elementwiseMutants } from './elementwise.ts';
import { epilogueMutants } from './epilogue.ts';
import { lifecycleMutants } from './lifecycle.ts';
import { memoryMutants } from './memory.ts';
import type { Mutant } from './mutant.ts';
import { orderOfChecksMutants } from './order-of-checks.ts';
import { orderMutants } from './order.ts';
import { productF16Mutants } from './product-f16.ts';
import { productMutants } from './product.ts';
import { reduceMutants } from './reduce.ts';
import { runFoldMutants } from './run/folds.ts';
import { runGatherMutants } from './run/gathers.ts';
import { runNodeMutants } from './run/nodes.ts';
import { runScanMutants } from './run/scans.ts';
import { runStorageMutants } from './run/storage.ts';
import { runViewMutants } from './run/views.ts';
import { sequenceMutants } from './sequences.ts';
import { topKMutants } from './top-k.ts';

export type { Mutant } from './mutant.ts';

/** Every planted bug. */
export const MUTANTS: readonly Mutant[] = [
  ...productMutants,
  ...productF16Mutants,
  ...conv2dMutants,
  ...epilogueMutants,
  ...attentionMutants,
  ...attentionFieldMutants,
  ...topKMutants,
  ...reduceMutants,
  ...elementwiseMutants,
  ...memoryMutants,
  ...orderMutants,
  ...orderOfChecksMutants,
  ...lifecycleMutants,
  ...sequenceMutants,
  ...runViewMutants,
  ...runStorageMutants,
  ...runNodeMutants,
  ...runGatherMutants,
  ...runFoldMutants,
  ...runScanMutants,
];

export type { Arithmetic, IntegerType } from './arithmetic/arithmetic.ts';
export { arithmeticNode } from './functions/arithmetic-node.ts';
export { type Folding, foldingOf, type MeanFactors, meanScale } from './functions/folds.ts';
export { type Leaves, NodeLowering, nodesAtLevel } from './functions/node-lowering.ts';
export { random, randomBlock } from './functions/random.ts';
export { fromBf16, fromF16, fromStorage, toBf16, toF16, toStorage } from './functions/storage.ts';

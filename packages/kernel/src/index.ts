export type { Arithmetic, IntegerType } from './arithmetic/arithmetic.ts';
export { type MaskStep, maskStep } from './weights/decode-weights.ts';
export { type DecodeStep, decodeStep, WEIGHT_FEATURES, type StoredB } from './weights/decode-weights.ts';
export { evaluateRun, type HostRun } from './evaluate/evaluate-run.ts';
export { arithmeticNode, costOf } from './functions/arithmetic-node.ts';
export { type Folding, foldingOf, type FoldSource, meanScale } from './functions/folds.ts';
export { log, log2 } from './functions/log.ts';
export { pow } from './functions/pow.ts';
export { random } from './functions/random.ts';
export { tanh } from './functions/logistic.ts';
export { Terms } from './functions/terms.ts';
export { fromBf16, fromF16, nanBits, toBf16, toF16 } from './functions/storage.ts';
export { type Access, accessOf, type AccessQuestion } from './schedule/access.ts';
export { missingNodes } from './program/form.ts';
export { type Leaves, NodeLowering } from './program/node-lowering.ts';
export { FoldStates, type States } from './program/fold-states.ts';
export {
  axesOfNodes,
  canContract,
  formKey,
  gathersRun,
  hasNode,
  names,
  numberOf,
  outputsOf,
  placeOf,
  type ProgramForm,
  storedNodes,
  vectorAxis,
} from './program/form.ts';
export { type Axes, coalesce, padAxes, padAxesTo, permuteAxes } from './schedule/coalesce.ts';
export {
  foldAt,
  foldsOf,
  hasMean,
  hasPlaces,
  partFoldsOf,
  type PhaseFold,
  type Phases,
  phasesOf,
  type Scans,
  scansOf,
  stateLength,
} from './schedule/phases.ts';
export { type RowClass, rowClasses, type RowQuestion } from './schedule/row-class.ts';
export { madeOnce } from './made-once.ts';
export { axisOf, joinAxes, type JoinedAxes, type RunAxes, runAxes } from './schedule/run-axes.ts';

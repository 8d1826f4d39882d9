/**
 * Tools for authors of backends with several kernels for an op: families of kernels and their variants, choosing
 * between them, forcing and tuning, plans kept by call, and the backend that all of it makes.
 *
 * @packageDocumentation
 */
export { FAR_PLACE, MAX_PLACED, placedSight, type PlacedSight } from './attention-places.ts';
export {
  type Canonical,
  type AnyFamily,
  type Candidates,
  type Families,
  type Family,
  familiesOf,
  idsOf,
  kernelsFor,
  type KernelTable,
  type NamesIn,
  ofType,
  planCall,
  shapeOf,
  type VariantTable,
  VariantTables,
} from './family.ts';
export { FreeBlocks, LARGEST_ROUNDED, type PoolCounters, sizeClass } from './free-blocks.ts';
export { FloatResults, type ResultMatrix, type Results } from './float-results.ts';
export {
  checkSteps,
  explainPasses,
  kernelsOf,
  type LaunchPlan,
  type Place,
  type PlannedCopy,
  type PlannedLaunch,
  spanAt,
  StepRecorder,
} from './launch-plan.ts';
export { type CallPlans, LaunchPlans, type Planning } from './launch-plans.ts';
export { exclude, PlannedBackend, type PlannedCall, type PlannedDevice } from './planned-backend.ts';
export { cacheFolder } from '#profile-store';
export {
  type Fault,
  faultOf,
  type TrialCall,
  trialCall,
  type TrialMultiply,
  type TrialSizes,
  wrongProduct,
} from './trial.ts';
export {
  type Lists,
  MAX_CHUNK,
  SELECT_SIZES,
  SORT_ENTRIES,
  SORT_ROOMS,
  TOP_K_SOURCES,
  type TopKInput,
  type TopKOutput,
  type TopKSource,
  type TopKVariant,
  type TopKWork,
  topKTables,
} from './top-k.ts';
export { DeviceTuning, type ProfileState } from './tuning/device-tuning.ts';
export type { ProfileDevice, TuningProfile } from './tuning/profile.ts';
export {
  checkTuningEnvironment,
  type TuningOptions,
  tuningSettings,
  type TuningSettings,
} from './tuning/tuning-settings.ts';
export type { VariantTuning } from './tuning/variant-tuning.ts';
export {
  matchesGlob,
  type NamedVariant,
  NOTHING_TUNED,
  pickVariant,
  sizeStep,
  type VariantChooser,
  type VariantPick,
  type VariantPreferences,
  type VariantQuestion,
} from './variant-choice.ts';
export type { ShippedProfile, VariantSet } from './variant-choice.ts';
export {
  BLOCKS,
  blockShift,
  formsBeside,
  FORMS_OF_INTEGERS,
  unsignedBias,
  unsignedOf,
  type WeightForm,
  weightFormOf,
  type Weights,
  weightsOf,
} from './weight-forms.ts';

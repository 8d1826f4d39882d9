/**
 * For authors of backends with several kernels for an op: choosing between them, forcing and tuning, and plans kept by call.
 *
 * @packageDocumentation
 */
export { withFakeOperands } from './operands.ts';
export { type CacheablePlan, PlanCache, type PlanCacheOptions } from './plan-cache.ts';
export { checkSteps, type Place, PlanMemory, spanAt } from './plan-memory.ts';
export { cacheFolder } from '#profile-store';
export { DeviceTuning, type ProfileState } from './tuning/device-tuning.ts';
export type { ProfileDevice, TuningProfile } from './tuning/profile.ts';
export {
  checkTuningEnvironment,
  type TuningOptions,
  tuningSettings,
  type TuningSettings,
} from './tuning/tuning-settings.ts';
export { type VariantTuning, variantTuning } from './tuning/variant-tuning.ts';
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
export type { ShippedProfile, VariantSet } from './variant-set.ts';

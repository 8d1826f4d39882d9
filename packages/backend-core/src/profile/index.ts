/**
 * Tells what ran, and how long: {@link profile} runs a program and reports each launch.
 *
 * @packageDocumentation
 */
export type { LaunchFacts } from './launch-facts.ts';
export {
  type DeviceLimits,
  type LaunchSum,
  profile,
  type Profile,
  type ProfiledLaunch,
  type ProfileOptions,
  sumLaunches,
} from './profile.ts';
export { measureProfile, traceEvents, type TraceEvent } from './trace-events.ts';

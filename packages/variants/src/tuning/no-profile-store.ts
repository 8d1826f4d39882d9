import type { ProfileMaker, TuningProfile } from './profile.ts';
import type { FoundProfile } from './profile-store.ts';

/** Finds nothing: without files there are no profiles. */
export function findProfile(_maker: ProfileMaker): FoundProfile | undefined {
  return undefined;
}

/** @throws {Error} always */
export function storeProfile(backend: string, _profile: TuningProfile): string {
  return checkCanStore(backend);
}

/** @throws {Error} always */
export function checkCanStore(_backend: string): never {
  throw new Error('a tuning profile can be written in Node only');
}

/** @throws {Error} always */
export function cacheFolder(_backend: string): never {
  throw new Error('there is no cache folder outside of Node');
}

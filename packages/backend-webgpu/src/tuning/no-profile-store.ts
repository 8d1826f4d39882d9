import type { ProfileMaker, TuningProfile } from './profile.ts';
import type { FoundProfile } from './profile-store.ts';

/** Without files there are no profiles. */
export function findProfile(_maker: ProfileMaker): FoundProfile | undefined {
  return undefined;
}

/** @throws {Error} always */
export function storeProfile(_profile: TuningProfile): string {
  return checkCanStore();
}

/** @throws {Error} always */
export function checkCanStore(): never {
  throw new Error('a tuning profile can be written in Node only');
}

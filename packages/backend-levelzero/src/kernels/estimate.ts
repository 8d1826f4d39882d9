import type { DeviceTraits, Launch } from './recorder.ts';

/** The minimum of multiply-adds of a compute unit in a second: a quarter of what a slow one has. */
const MULTIPLY_ADDS = 2e10;
/** The minimum of bytes that a device moves in a second: half of what an integrated one does. */
const BYTES = 2e10;

/** The maximum of seconds that a number of multiply-adds takes, on a device that is idle otherwise. */
export function secondsFor(multiplyAdds: number, { computeUnits }: Pick<DeviceTraits, 'computeUnits'>): number {
  return multiplyAdds / (MULTIPLY_ADDS * computeUnits);
}

/** The maximum of seconds that a launch takes, by its arithmetic and by the memory that it is given. */
export function secondsOf({ multiplyAdds = 0, args }: Launch, traits: DeviceTraits): number {
  let bytes = 0;
  for (const name in args) {
    const value = args[name];
    if (typeof value === 'object' && 'byteLength' in value) bytes += value.byteLength;
  }
  return Math.max(secondsFor(multiplyAdds, traits), bytes / BYTES);
}

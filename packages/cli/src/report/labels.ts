import { basename } from 'node:path';
import type { DeviceInfo } from '@concord/backend-core';

/** The properties that tell a run from others. */
export interface Origin {
  readonly file: string;
  readonly backend: string;
  readonly device: DeviceInfo | null;
}

/** A name for each run, no two alike: the backend, where that is not enough with the device, else with the file. */
export function uniqueLabels(origins: readonly Origin[]): readonly string[] {
  const ways: readonly ((origin: Origin) => string)[] = [
    ({ backend }) => backend,
    ({ backend, device }) => `${backend} (${device?.name ?? 'not run'})`,
    ({ backend, file }) => `${backend} (${basename(file)})`,
    ({ backend, file }) => `${backend} (${file})`,
  ];
  return origins.map((origin, index) => {
    const unique = ways.find((way) => origins.filter((other) => way(other) === way(origin)).length === 1);
    return unique?.(origin) ?? `${origin.backend} (${origin.file}, ${index + 1})`;
  });
}

/** Variants measured on one device: what `concord tune` writes and a backend on that device reads. */
export interface TuningProfile {
  /** `concord-webgpu-profile` for the backend `webgpu`, and so on. */
  readonly format: string;
  readonly version: 1;
  /** Version of the backend whose variants were measured. */
  readonly backendVersion: string;
  readonly device: ProfileDevice;
  /** ISO 8601. */
  readonly tunedAt: string;
  /** The fastest variant by shape class. */
  readonly choices: Readonly<Record<string, string>>;
  /** Milliseconds of one call by shape class and variant. */
  readonly measured: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** The device that a profile is of. Another driver compiles other code. */
export interface ProfileDevice {
  readonly vendor: string;
  readonly name: string;
  readonly driver: string;
}

/** The versions that a profile must have been made with to be valid. */
export interface ProfileMaker {
  /** Name of the backend. */
  readonly backend: string;
  readonly backendVersion: string;
  readonly device: ProfileDevice;
}

/** The prefix of the profiles of a backend. */
export function profileFormat(backend: string): string {
  return `concord-${backend}-profile`;
}

/** A profile, or what is wrong with the text: a whole sentence's end, such as `is not JSON`. */
export type ParsedProfile = { readonly profile: TuningProfile } | { readonly problem: string };

/** Reads a profile and checks all of it that is used. */
export function parseProfile(text: string, maker: ProfileMaker): ParsedProfile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'is not JSON' };
  }
  if (!isRecord(value) || value['format'] !== profileFormat(maker.backend)) {
    return { problem: `is not a tuning profile of ${maker.backend}` };
  }
  if (value['version'] !== 1) return { problem: `has version ${String(value['version'])}, this backend reads 1` };
  if (value['backendVersion'] !== maker.backendVersion) {
    return {
      problem: `is for version ${String(value['backendVersion'])} of the backend, this is ${maker.backendVersion}`,
    };
  }
  const { device, choices, measured, tunedAt } = value;
  if (!isRecord(device) || !isRecord(choices) || !isRecord(measured) || typeof tunedAt !== 'string') {
    return { problem: 'is damaged: a part is missing' };
  }
  const { vendor, name, driver } = maker.device;
  if (device['vendor'] !== vendor || device['name'] !== name || device['driver'] !== driver) {
    return { problem: `is of another device or driver (${String(device['name'])}, ${String(device['driver'])})` };
  }
  const wrong = Object.entries(choices).find(([, id]) => typeof id !== 'string');
  if (wrong !== undefined) return { problem: `is damaged: the choice for "${wrong[0]}" is not a name` };
  return { profile: value as unknown as TuningProfile };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

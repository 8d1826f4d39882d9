import { BackendError } from '@concord/backend-core';
import { type BaseBackendOptions, checkFields, describe } from '@concord/backend-core/implement';
import { type TuningOptions, tuningSettings } from '@concord/variants';
import { levelZeroVariants } from '../kernels/families.ts';

/** The choice of a Level Zero device. */
export interface DeviceChoice {
  /** Index in the list of devices, GPUs first, or part of a name, upper or lower case. Default: the first. */
  readonly device?: number | string | undefined;
  /** Index of a part of the device, a tile, to take instead of the whole. */
  readonly subDevice?: number | undefined;
  /** `refuse` leaves out devices that are software. Default: `allow`, after all others. */
  readonly software?: 'allow' | 'refuse' | undefined;
}

/** Options of a `LevelZeroClient`. */
export interface LevelZeroOptions extends DeviceChoice, TuningOptions {
  /** Path or name of the loader library. Default: where the platform has it. */
  readonly library?: string | undefined;
  /** The maximum number of bytes of freed memory that are kept for reuse. Default: 256 MiB. */
  readonly maxPooledBytes?: number | undefined;
  /**
   * `use`: compiled modules are kept in the user's cache folder and loaded from there. Default: that of the environment
   * variable `CONCORD_MODULE_CACHE`, or else `use`, but for devices that are software.
   */
  readonly moduleCache?: 'use' | 'ignore' | undefined;
  /** `use`: products of f16 may run on matrix engines (XMX). Default: `use`, where a trial at `init` comes out right. */
  readonly matrixEngines?: 'use' | 'off' | undefined;
}

/** Every option, of the client and of the backend. */
const NAMES = Object.keys({
  ...{ device: true, subDevice: true, software: true, library: true, maxPooledBytes: true, moduleCache: true },
  ...{ matrixEngines: true, variants: true, tuning: true, memoryLimitBytes: true },
} satisfies Record<keyof LevelZeroOptions | keyof BaseBackendOptions, true>);

/** @throws {BackendError} INVALID_ARGUMENT */
export function checkOptions(options: LevelZeroOptions): void {
  checkFields('options', options, NAMES);
  const { device, subDevice, software, library, maxPooledBytes, moduleCache, matrixEngines } = options;
  tuningSettings(levelZeroVariants, options);
  check(
    device === undefined || isIndex(device) || isText(device),
    `device must be an index or part of a name, got ${shown(device)}`,
  );
  check(subDevice === undefined || isIndex(subDevice), `subDevice must be an index, got ${shown(subDevice)}`);
  check(
    software === undefined || ['allow', 'refuse'].includes(software),
    `software must be allow or refuse, got ${shown(software)}`,
  );
  check(library === undefined || isText(library), `library must be a path or name, got ${shown(library)}`);
  check(
    maxPooledBytes === undefined || maxPooledBytes === Infinity || isIndex(maxPooledBytes),
    `maxPooledBytes must be an integer of at least 0, got ${shown(maxPooledBytes)}`,
  );
  checkModuleCache(moduleCache, 'moduleCache');
  checkModuleCache(process.env['CONCORD_MODULE_CACHE'] || undefined, 'CONCORD_MODULE_CACHE');
  check(
    matrixEngines === undefined || ['use', 'off'].includes(matrixEngines),
    `matrixEngines must be use or off, got ${shown(matrixEngines)}`,
  );
}

/** Returns whether compiled modules are to be kept, for a device that is software or not. */
export function usesModuleCache({ moduleCache }: LevelZeroOptions, isSoftware: boolean): boolean {
  return (moduleCache ?? (process.env['CONCORD_MODULE_CACHE'] || (isSoftware ? 'ignore' : 'use'))) === 'use';
}

function checkModuleCache(value: string | undefined, name: string): void {
  check(value === undefined || ['use', 'ignore'].includes(value), `${name} must be use or ignore, got ${shown(value)}`);
}

function isIndex(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

function check(isRight: boolean, message: string): void {
  if (!isRight) throw new BackendError('INVALID_ARGUMENT', message);
}

/** @throws {BackendError} INVALID_ARGUMENT unless `options` is an object of these fields, those of `texts` strings */
export function checkNativeOptions(options: unknown, names: readonly string[], texts: readonly string[] = []): void {
  if (typeof options !== 'object' || options === null) throw invalid('options must be an object', options);
  checkFields('options', options, names);
  for (const name of texts) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && typeof value !== 'string') throw invalid(`options.${name} must be a string`, value);
  }
}

function invalid(rule: string, value: unknown): BackendError {
  return new BackendError('INVALID_ARGUMENT', `${rule}, got ${describe(value)}`);
}

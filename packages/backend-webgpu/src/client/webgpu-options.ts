import type { TuningOptions } from '@concord/variants';
import { BackendError } from '@concord/backend-core';
import { type BaseBackendOptions, checkFields } from '@concord/backend-core/implement';
import type { AdapterChoice } from './adapters.ts';
import type { DawnOptions } from './dawn-source.ts';

/** The source of the device, the choice between several, and limits below its own. */
export interface WebGpuOptions extends AdapterChoice, TuningOptions {
  /** A device of the caller's. It is never destroyed here. */
  readonly device?: GPUDevice | undefined;
  /** A `GPU` of the caller's, instead of Dawn or `navigator.gpu`. */
  readonly gpu?: GPU | undefined;
  /** Options of Dawn, in Node. */
  readonly dawn?: DawnOptions | undefined;
  /** Most bytes that one storage binding covers; at least 1,024. Default: the device's limit. */
  readonly maxBindingBytes?: number | undefined;
  /** The maximum number of workgroups in a dimension of a dispatch. Default: the device's limit. */
  readonly maxWorkgroupsPerDimension?: number | undefined;
  /** The maximum number of bytes of freed memory that are kept for reuse. Default: 512 MiB. */
  readonly maxPooledBytes?: number | undefined;
}

const MIN_BINDING_BYTES = 1024;

/** Every option, of the client and of the backend. */
const NAMES = Object.keys({
  ...{
    adapter: true,
    powerPreference: true,
    software: true,
    device: true,
    gpu: true,
    dawn: true,
    memoryLimitBytes: true,
  },
  ...{ maxBindingBytes: true, maxWorkgroupsPerDimension: true, maxPooledBytes: true, variants: true, tuning: true },
} satisfies Record<keyof WebGpuOptions | keyof BaseBackendOptions, true>);
const DAWN_NAMES = Object.keys({
  ...{ enable: true, disable: true, backend: true, adapter: true, robustness: true, matrixUnits: true },
} satisfies Record<keyof DawnOptions, true>);

/** @throws {BackendError} INVALID_ARGUMENT */
export function checkOptions(options: WebGpuOptions): void {
  checkFields('options', options, NAMES);
  checkFields('dawn', options.dawn ?? {}, DAWN_NAMES);
  const { maxBindingBytes, maxWorkgroupsPerDimension, maxPooledBytes, software, powerPreference, adapter } = options;
  const min = { maxBindingBytes: MIN_BINDING_BYTES, maxWorkgroupsPerDimension: 1, maxPooledBytes: 0 };
  for (const [name, value] of Object.entries({ maxBindingBytes, maxWorkgroupsPerDimension, maxPooledBytes })) {
    const atLeast = min[name as keyof typeof min];
    check(
      value === undefined || (Number.isSafeInteger(value) && value >= atLeast),
      `${name} must be an integer of at least ${atLeast}, got ${value}`,
    );
  }
  check(
    software === undefined || ['allow', 'refuse'].includes(software),
    `software must be allow or refuse, got ${String(software)}`,
  );
  check(
    powerPreference === undefined || ['low-power', 'high-performance'].includes(powerPreference),
    `powerPreference must be low-power or high-performance, got ${String(powerPreference)}`,
  );
  const isIndex = Number.isSafeInteger(adapter) && (adapter as number) >= 0;
  const isName = typeof adapter === 'string' && adapter !== '';
  check(
    adapter === undefined || isIndex || isName,
    `adapter must be an index or part of a name, got ${String(adapter)}`,
  );
  for (const list of ['enable', 'disable'] as const) {
    const toggles = options.dawn?.[list];
    check(toggles === undefined || Array.isArray(toggles), `dawn.${list} must be an array of toggles`);
  }
  for (const name of ['robustness', 'matrixUnits'] as const) {
    const value: unknown = options.dawn?.[name];
    check(
      value === undefined || typeof value === 'boolean',
      `dawn.${name} must be true or false, got ${String(value)}`,
    );
  }
}

function check(isRight: boolean, message: string): void {
  if (!isRight) throw new BackendError('INVALID_ARGUMENT', message);
}

import type { TuningOptions } from '@concord/variants';
import type { AdapterChoice } from './adapters.ts';
import type { DawnOptions } from './dawn-source.ts';

/** Where the device comes from, which one, and limits below its own. */
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

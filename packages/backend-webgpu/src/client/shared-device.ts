import { BackendError } from '@concord/backend-core';
import type { DeviceTraits } from '../kernels/recorder.ts';
import { type AdapterChoice, chooseAdapter } from './adapters.ts';
import { MATRIX_UNITS, traitsOf } from './device-traits.ts';
import { awaitPlainly, type GpuContext, type GpuSource, keyOf } from './gpu-source.ts';
import { PipelineCache } from './pipeline-cache.ts';

/** A device with what is kept once for all its users. */
export interface SharedDevice extends GpuContext {
  readonly info: GPUAdapterInfo;
  readonly pipelines: PipelineCache;
  readonly traits: DeviceTraits;
  /** Resolves when the device is lost, with the reason the runtime gives. */
  readonly lost: Promise<GPUDeviceLostInfo>;
  /** Ends this use; after the last one the device is destroyed, unless it was injected. */
  release(): void;
}

interface Entry {
  readonly opening: Promise<Omit<SharedDevice, 'release'>>;
  users: number;
}

/** Features that are asked for where the adapter has them. */
const FEATURES: readonly string[] = ['shader-f16', 'subgroups', 'timestamp-query', MATRIX_UNITS];

const entries = new Map<string, Entry>();

/**
 * The device of a source and a choice of adapter; the same object's device for equal requests until the last user has
 * released it.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE, INVALID_ARGUMENT
 */
export async function acquireDevice(source: GpuSource | GPUDevice, choice: AdapterChoice): Promise<SharedDevice> {
  const isDevice = 'queue' in source;
  const key = isDevice ? keyOf(source) : `${source.key} ${JSON.stringify(choice)}`;
  let entry = entries.get(key);
  if (entry === undefined) {
    entry = { opening: isDevice ? adopt(source) : open(source, choice), users: 0 };
    entries.set(key, entry);
    forgetWhenGone(key, entry);
  }
  entry.users++;
  const held = entry;
  const release = (): void => {
    held.users--;
    if (held.users > 0) return;
    if (entries.get(key) === held) entries.delete(key);
    if (!isDevice) void held.opening.then(({ device }) => device.destroy()).catch(() => undefined);
  };
  try {
    return { ...(await entry.opening), release: once(release) };
  } catch (error) {
    release();
    throw error;
  }
}

/** A lost device is not given to anybody else, nor is one that could not be opened. */
function forgetWhenGone(key: string, entry: Entry): void {
  const forget = (): void => {
    if (entries.get(key) === entry) entries.delete(key);
  };
  entry.opening.then(({ lost }) => lost.then(forget), forget);
}

async function open(source: GpuSource, choice: AdapterChoice): Promise<Omit<SharedDevice, 'release'>> {
  const { adapter, found } = await chooseAdapter(source, choice);
  const wanted = FEATURES.filter((feature) => adapter.features.has(feature) && !found.unwanted?.includes(feature));
  try {
    const device = await found.awaiting(() =>
      adapter.requestDevice({
        label: 'concord',
        requiredFeatures: wanted as GPUFeatureName[],
        requiredLimits: raisedLimits(adapter.limits),
      }),
    );
    return share({ device, awaiting: found.awaiting }, adapter.info, found.checksBounds);
  } catch (cause) {
    throw new BackendError('BACKEND_UNAVAILABLE', `the adapter gives no device: ${(cause as Error).message}`, {
      backend: 'webgpu',
      reason: 'failed',
      cause,
    });
  }
}

async function adopt(device: GPUDevice): Promise<Omit<SharedDevice, 'release'>> {
  return share({ device, awaiting: awaitPlainly }, device.adapterInfo);
}

function share(context: GpuContext, info: GPUAdapterInfo, checksBounds = false): Omit<SharedDevice, 'release'> {
  return {
    ...context,
    info,
    pipelines: new PipelineCache(context),
    traits: { ...traitsOf(context.device, info), checksBounds },
    lost: context.device.lost,
  };
}

/** Everything the adapter can do: a device has the lowest limits unless others are asked for. */
function raisedLimits(limits: GPUSupportedLimits): Record<string, number> {
  const raised: Record<string, number> = {};
  for (const name of RAISED) {
    const value = limits[name];
    if (value !== undefined) raised[name] = value;
  }
  return raised;
}

const RAISED = [
  'maxBindGroups',
  'maxBufferSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
  'maxComputeWorkgroupStorageSize',
  'maxComputeWorkgroupsPerDimension',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxUniformBufferBindingSize',
  'minStorageBufferOffsetAlignment',
  'minUniformBufferOffsetAlignment',
] as const;

function once(run: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    run();
  };
}

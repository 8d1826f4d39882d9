import { BackendError, type DeviceInfo, type DeviceType } from '@concord/backend-core';
import type { GpuFound, GpuMissing, GpuSource } from './gpu-source.ts';

const SOFTWARE = /swiftshader|llvmpipe|lavapipe|basic render|software rasterizer|\bwarp\b/i;

/** The vendors whose GPUs are of one kind. What else an adapter is, WebGPU does not tell. */
const TYPE_BY_VENDOR: Readonly<Record<string, DeviceType>> = {
  apple: 'integrated',
  arm: 'integrated',
  imgtec: 'integrated',
  nvidia: 'discrete',
  qualcomm: 'integrated',
};

/** wgpu gives the numbers of PCI, or of Khronos, where others give names. */
const VENDOR_BY_NUMBER: Readonly<Record<string, string>> = {
  4098: 'amd',
  4112: 'imgtec',
  4203: 'apple',
  4318: 'nvidia',
  5045: 'arm',
  5140: 'microsoft',
  6880: 'google',
  20803: 'qualcomm',
  32902: 'intel',
  65541: 'mesa',
};

/** Returns whether an adapter runs shaders on the CPU. */
export function isSoftwareAdapter(info: GPUAdapterInfo): boolean {
  const { vendor, architecture, device, description } = textsOf(info);
  return info.isFallbackAdapter || SOFTWARE.test(`${vendor} ${architecture} ${device} ${description}`);
}

/** The facts about an adapter, in the contract's terms. */
export function describeAdapter(info: GPUAdapterInfo): DeviceInfo {
  const { vendor, architecture, device, description } = textsOf(info);
  const name = device || description || [vendor, architecture].filter(Boolean).join(' ') || 'GPU';
  return {
    vendor: vendor || 'unknown',
    name,
    type: isSoftwareAdapter(info) ? 'software' : (TYPE_BY_VENDOR[vendor.toLowerCase()] ?? 'unknown'),
    driver: device && description ? `WebGPU on ${description}` : 'WebGPU',
  };
}

/** The words of an adapter's info; empty if there are none, as in Firefox, or only a number. */
function textsOf(info: GPUAdapterInfo): Record<'vendor' | 'architecture' | 'device' | 'description', string> {
  // Dawn gives the device as a slug and the driver as the description; browsers give neither, or only the second. wgpu gives
  // the device's name as the description, and its number as the device.
  const { vendor = '', architecture = '', device = '', description = '' } = info as Partial<GPUAdapterInfo>;
  return {
    vendor: VENDOR_BY_NUMBER[vendor] ?? vendor,
    architecture,
    device: /^\d+$/.test(device) ? '' : device.replace(/-+$/, ''),
    description,
  };
}

/** The choice of an adapter. */
export interface AdapterChoice {
  /** Index among the adapters that `listAdapters` gives, or part of a name, upper or lower case. Default: the first. */
  readonly adapter?: number | string | undefined;
  /** The GPU that is preferred if there are several. */
  readonly powerPreference?: 'low-power' | 'high-performance' | undefined;
  /** `refuse` leaves out adapters that run shaders on the CPU. Default: `allow`, after all others. */
  readonly software?: 'allow' | 'refuse' | undefined;
}

/** An adapter and the entry point that it came from. */
interface FoundAdapter {
  readonly adapter: GPUAdapter;
  readonly found: GpuFound;
}

/**
 * The adapters that a source offers, hardware first. WebGPU has no list: it is asked for each power preference and for
 * the fallback, and answers that look the same are taken for one.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE with reason and hint
 */
export async function listAdapters(source: GpuSource, choice: AdapterChoice = {}): Promise<readonly FoundAdapter[]> {
  const found = await source.open();
  if (!found.found) throw unavailable(found);
  const adapters = new Map<string, GPUAdapter>();
  let refusal: string | undefined;
  const ask = async (options: GPURequestAdapterOptions): Promise<void> => {
    const adapter = await found
      .awaiting(() => found.gpu.requestAdapter(options))
      .catch((error: Error) => {
        // Dawn rejects where a browser gives null.
        refusal ??= error.message;
        return null;
      });
    if (adapter === null) return;
    const key = looksOf(adapter);
    if (!adapters.has(key)) adapters.set(key, adapter);
  };
  await ask(choice.powerPreference === undefined ? {} : { powerPreference: choice.powerPreference });
  // Where there is none at all, further requests only add warnings to the browser's console.
  if (adapters.size > 0) {
    await ask({ powerPreference: 'high-performance' });
    await ask({ powerPreference: 'low-power' });
  }
  await ask({ forceFallbackAdapter: true });
  if (adapters.size === 0) throw unavailable(found.explainNoAdapter(refusal));
  const rank = (adapter: GPUAdapter): number => (isSoftwareAdapter(adapter.info) ? 1 : 0);
  return [...adapters.values()].sort((a, b) => rank(a) - rank(b)).map((adapter) => ({ adapter, found }));
}

/**
 * The adapter that a choice means.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE with reason and hint; INVALID_ARGUMENT for an index or name that no adapter
 *   has
 */
export async function chooseAdapter(source: GpuSource, choice: AdapterChoice): Promise<FoundAdapter> {
  const all = await listAdapters(source, choice);
  const named = all.filter(({ adapter }, index) => isMeant(adapter, index, choice.adapter));
  const names = all.map(({ adapter }, index) => `${index}: ${describeAdapter(adapter.info).name}`).join(', ');
  if (named.length === 0) {
    throw new BackendError('INVALID_ARGUMENT', `there is no adapter ${JSON.stringify(choice.adapter)}`, {
      hint: `the adapters are ${names}`,
    });
  }
  const allowed = named.find(({ adapter }) => choice.software !== 'refuse' || !isSoftwareAdapter(adapter.info));
  if (allowed === undefined) {
    throw unavailable({
      found: false,
      reason: 'no-device',
      message: `only software devices are here (${names}), and they are refused`,
      hint: "install a GPU driver, or pass software: 'allow'",
    });
  }
  return allowed;
}

/** Equal for answers that are taken for one adapter. Where info is empty, as in Firefox, abilities tell adapters apart. */
function looksOf({ info, features, limits }: GPUAdapter): string {
  const { vendor, architecture, device, description, isFallbackAdapter } = info;
  const names = [vendor, architecture, device, description];
  const abilities = names.some(Boolean)
    ? []
    : [...features, limits.maxBufferSize, limits.maxStorageBufferBindingSize, limits.maxComputeWorkgroupStorageSize];
  return [...names, isFallbackAdapter, ...abilities].join('|');
}

function isMeant(adapter: GPUAdapter, index: number, wanted: AdapterChoice['adapter']): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === 'number') return wanted === index;
  const { name, driver } = describeAdapter(adapter.info);
  return `${name} ${driver}`.toLowerCase().includes(wanted.toLowerCase());
}

/** The error for a GPU that is not there. */
function unavailable({ reason, message, hint }: GpuMissing): BackendError {
  return new BackendError('BACKEND_UNAVAILABLE', message, { backend: 'webgpu', reason, hint });
}

import type { DeviceInfo, DeviceType } from '@concord/backend-core';

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

/** The words of an adapter's info; empty where there are none, as in Firefox, or only a number. */
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

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

/** Whether an adapter runs shaders on the CPU. */
export function isSoftwareAdapter(info: GPUAdapterInfo): boolean {
  return (
    info.isFallbackAdapter || SOFTWARE.test(`${info.vendor} ${info.architecture} ${info.device} ${info.description}`)
  );
}

/** What is known of an adapter, in the contract's terms. */
export function describeAdapter(info: GPUAdapterInfo): DeviceInfo {
  // Dawn gives the device as a slug and the driver as the description; browsers give neither, or only the second.
  const device = info.device.replace(/-+$/, '');
  const name = device || info.description || [info.vendor, info.architecture].filter(Boolean).join(' ') || 'GPU';
  return {
    vendor: info.vendor || 'unknown',
    name,
    type: isSoftwareAdapter(info) ? 'software' : (TYPE_BY_VENDOR[info.vendor.toLowerCase()] ?? 'unknown'),
    driver: device && info.description ? `WebGPU on ${info.description}` : 'WebGPU',
  };
}

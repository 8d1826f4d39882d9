import { type BackendProvider, isBackendError, type ProbeResult } from '@concord/backend-core';
import { chooseAdapter, describeAdapter } from './client/adapters.ts';
import { checkOptions, type WebGpuOptions } from './client/webgpu-options.ts';
import { gpuSource } from './client/choose-source.ts';

/**
 * The provider of the WebGPU backend, on the device that the options mean. Its kernels are loaded when it is picked.
 *
 * @throws {BackendError} INVALID_ARGUMENT for unknown options, or out of range
 */
export function webgpu(options: WebGpuOptions = {}): BackendProvider {
  checkOptions(options);
  return {
    name: 'webgpu',
    priority: 10,
    contractVersion: 3,
    probe: () => probe(options),
    create: async (createOptions) => {
      const { WebGpuBackend } = await import('./webgpu-backend.ts');
      return new WebGpuBackend({ ...options, ...createOptions });
    },
  };
}

async function probe(options: WebGpuOptions): Promise<ProbeResult> {
  try {
    if (options.device !== undefined) {
      return { available: true, devices: [describeAdapter(options.device.adapterInfo)] };
    }
    const { adapter, powerPreference, software } = options;
    const { adapter: chosen } = await chooseAdapter(gpuSource(options), { adapter, powerPreference, software });
    return { available: true, devices: [describeAdapter(chosen.info)] };
  } catch (error) {
    if (!isBackendError(error)) return { available: false, reason: 'failed', message: String(error) };
    return { available: false, reason: error.reason ?? 'failed', message: error.detail, hint: error.hint };
  }
}

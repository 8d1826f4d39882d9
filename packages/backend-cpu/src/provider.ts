import type { BackendProvider } from '@concord/backend-core';
import { type BaseBackendOptions, checkFields } from '@concord/backend-core/implement';
import { cpuDevice } from './cpu-device.ts';

/**
 * The provider of the pure TypeScript backend. Available everywhere. Its kernels are loaded when it is picked.
 *
 * @throws {BackendError} INVALID_ARGUMENT for unknown options
 */
export function cpu(options: BaseBackendOptions = {}): BackendProvider {
  checkFields('options', options, ['memoryLimitBytes']);
  return {
    name: 'cpu',
    priority: 0,
    contractVersion: 3,
    probe: () => Promise.resolve({ available: true, devices: [cpuDevice()] }),
    create: async (createOptions) => {
      const { CpuBackend } = await import('./cpu-backend.ts');
      return new CpuBackend({ ...options, ...createOptions });
    },
  };
}

import type { BackendProvider } from '@concord/backend-core';
import { cpuDevice } from './cpu-device.ts';

/** The provider of the pure TypeScript backend. Available everywhere. Its kernels are loaded when it is picked. */
export function cpu(): BackendProvider {
  return {
    name: 'cpu',
    priority: 0,
    contractVersion: 3,
    probe: () => Promise.resolve({ available: true, devices: [cpuDevice()] }),
    create: async (options) => {
      const { CpuBackend } = await import('./cpu-backend.ts');
      return new CpuBackend(options);
    },
  };
}

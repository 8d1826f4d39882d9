import type { BackendProvider } from '@concord/backend-core';
import { CpuBackend, cpuDevice } from './cpu-backend.ts';

/** The provider of the pure TypeScript backend. Available everywhere. */
export function cpu(): BackendProvider {
  return {
    name: 'cpu',
    priority: 0,
    contractVersion: 3,
    probe: () => Promise.resolve({ available: true, devices: [cpuDevice()] }),
    create: (options) => new CpuBackend(options),
  };
}

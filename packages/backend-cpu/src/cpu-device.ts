import type { DeviceInfo } from '@concord/backend-core';

/** The host, as far as JavaScript can tell without importing anything: Node says more than a browser. */
export function cpuDevice(): DeviceInfo {
  const { process, navigator } = globalThis as {
    process?: { version?: string; versions?: { v8?: string }; arch?: string; platform?: string };
    navigator?: { hardwareConcurrency?: number; userAgent?: string };
  };
  if (process?.versions?.v8 !== undefined) {
    return {
      vendor: 'host',
      name: `CPU, one thread (${process.platform ?? 'unknown'} ${process.arch ?? ''})`,
      type: 'cpu',
      driver: `Node.js ${process.version ?? ''}, V8 ${process.versions.v8}`,
    };
  }
  return { vendor: 'host', name: 'CPU, one thread', type: 'cpu', driver: navigator?.userAgent ?? 'JavaScript' };
}

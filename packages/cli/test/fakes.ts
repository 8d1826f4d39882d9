import { BackendError, type BackendProvider, type DeviceInfo } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { runProgram } from '../src/program.ts';

/** How a command ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in this process. */
export async function run(
  args: readonly string[],
  providers: readonly BackendProvider[],
  options: { readonly signal?: AbortSignal; readonly isTTY?: boolean } = {},
): Promise<Ended> {
  const { signal = new AbortController().signal, isTTY = false } = options;
  let stdout = '';
  let stderr = '';
  const code = await runProgram(args, {
    providers,
    stdout: { write: (text) => (stdout += text), isTTY },
    stderr: { write: (text) => (stderr += text) },
    signal,
  });
  return { code, stdout, stderr };
}

/** A backend that works, under any name and on any device. */
export function working(name: string, device: Partial<DeviceInfo> = {}, Backend = CpuBackend): BackendProvider {
  const info: DeviceInfo = { vendor: 'Acme', name: `${name} device`, type: 'cpu', driver: 'Acme 1.2', ...device };
  return {
    name,
    priority: 0,
    contractVersion: 1,
    probe: () => Promise.resolve({ available: true, devices: [info] }),
    create: () => {
      const backend = new Backend();
      Object.defineProperty(backend, 'name', { value: name });
      Object.defineProperty(backend, 'device', { value: info });
      return backend;
    },
  };
}

/** A backend whose device is not there. */
export function missing(name: string): BackendProvider {
  const message = 'no adapter was found';
  const hint = 'install a driver';
  return {
    name,
    priority: 9,
    contractVersion: 1,
    probe: () => Promise.resolve({ available: false, reason: 'no-device', message, hint }),
    create: () => Promise.reject(new BackendError('BACKEND_UNAVAILABLE', message, { reason: 'no-device', hint })),
  };
}

/** A backend whose probe breaks its promise never to throw. */
export function throwing(name: string): BackendProvider {
  return { ...missing(name), probe: () => Promise.reject(new Error('segment not found')) };
}

/** Computes nothing. */
export class IdleBackend extends CpuBackend {
  override reduce(): void {}
}

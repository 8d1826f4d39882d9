import { BackendError, type BackendProvider, type DeviceInfo, type VariantReport } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import type { VariantTuning } from '@concord/variants';
import { runProgram } from '../src/program.ts';

/** The exit of a command. */
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
    loadProviders: () => Promise.resolve(providers),
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
    contractVersion: 3,
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
    contractVersion: 3,
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

/** Has three ways to reduce: one that builds, one that it excludes on its device, and one whose kernels throw. */
export class ExcludingBackend extends CpuBackend {
  #forced: readonly string[] = [];
  readonly #excluded = new Set<string>();

  constructor() {
    super();
    const tuning: VariantTuning = {
      profile: { state: 'none', detail: 'concord tune makes one' },
      choices: (op) =>
        op === 'reduce' ? [{ shapeClass: 'reduce', candidates: IDS, preferred: IDS[0], picked: IDS[0] }] : [],
      force: (variants) => void (this.#forced = variants),
      save: () => '/cache/profile.json',
      checkCanSave: () => undefined,
    };
    Object.assign(this, { native: { tuning } });
  }

  override prepare(): Promise<void> {
    const [id] = this.#forced;
    if (id === 'reduce/b') this.#excluded.add(id);
    return id === 'reduce/c' ? Promise.reject(new Error('reduce/c fell apart')) : Promise.resolve();
  }

  variants(): VariantReport {
    const why = { kernel: 'reduce/b f32', log: 'error: line 1\nerror: line 2' };
    const excluded = [...this.#excluded].map((id) => ({ id, reason: `kernel ${id} f32 does not build`, ...why }));
    return { runs: { 'reduce/a': 1 }, candidates: IDS, forced: this.#forced, excluded };
  }
}

const IDS = ['reduce/a', 'reduce/b', 'reduce/c'] as const;

import type { DeviceInfo } from '@concord/backend-core';
import { engineName, hostName } from './engine/host.ts';
import { fmaHint } from './engine/simd.ts';
import type { WasmTraits } from './kernels/kernel.ts';
import type { WasmMode } from './pool/machine.ts';

const MODE_NAMES: Readonly<Record<WasmMode, (threads: number) => string>> = {
  threads: (threads) => `${threads} thread${threads === 1 ? '' : 's'}`,
  worker: () => 'one worker',
  inline: () => 'no worker',
};

/**
 * The host's processor as WebAssembly reaches it: the number of threads, if multiply-adds round once, and the
 * reasons why there is no more.
 */
export function wasmDevice(mode: WasmMode, { hasFma, threads }: WasmTraits, obstacles: readonly string[]): DeviceInfo {
  const notes = [...obstacles, ...(hasFma ? [] : [`no FMA (${fmaHint()})`])];
  const host = hostName();
  return {
    vendor: 'host',
    name: `CPU, ${MODE_NAMES[mode](threads)}, SIMD${hasFma ? ', FMA' : ''}${host === '' ? '' : ` (${host})`}`,
    type: 'cpu',
    driver: [`WebAssembly in ${engineName()}`, ...notes].join('; '),
    computeUnits: threads,
  };
}

import type { BackendProvider } from '@concord/backend-core';
import { cpu } from '@concord/backend-cpu';
import { levelZero } from '@concord/backend-levelzero';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';

/** Every backend that the command knows: one line for each. */
export function knownProviders(): readonly BackendProvider[] {
  return [
    levelZero(), //
    webgpu(),
    wasm(),
    cpu(),
  ];
}

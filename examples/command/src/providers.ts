import type { BackendProvider } from '@concord/backend-core';
import { cpu } from '@concord/backend-cpu';
import { levelZero } from '@concord/backend-levelzero';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';

/** The backends that this program can run on, one line for each. The registry takes the best one that works. */
export function providers(): readonly BackendProvider[] {
  return [
    levelZero(), //
    webgpu(),
    wasm(),
    cpu(),
  ];
}

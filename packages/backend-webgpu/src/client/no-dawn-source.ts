// Stands for dawn-source.ts outside Node (see "imports" in package.json), so that no Node import reaches a bundle.
import type { GpuSource } from './gpu-source.ts';
import { browserSource } from './browser-source.ts';

/** Where the GPU comes from when the caller does not say: the browser. */
export function defaultSource(): GpuSource {
  return browserSource();
}

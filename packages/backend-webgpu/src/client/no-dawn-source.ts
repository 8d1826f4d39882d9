// Stands for dawn-source.ts outside Node (see "imports" in package.json), so that no Node import reaches a bundle.
import type { GpuSource } from './gpu-source.ts';
import { browserSource } from './browser-source.ts';

/** Returns the default source of the GPU: the browser. */
export function defaultSource(): GpuSource {
  return browserSource();
}

import { defaultSource } from '#gpu-source';
import { type GpuSource, injectedSource } from './gpu-source.ts';
import type { WebGpuOptions } from './webgpu-options.ts';

/** The source that options mean. */
export function gpuSource(options: Pick<WebGpuOptions, 'gpu' | 'dawn'>): GpuSource {
  return options.gpu === undefined ? defaultSource(options.dawn) : injectedSource(options.gpu);
}

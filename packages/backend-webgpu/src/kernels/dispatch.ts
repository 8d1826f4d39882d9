import { BackendError } from '@concord/backend-core';
import { dispatches } from './grid.ts';
import { type Kernel, uniformWords } from './kernel.ts';
import type { Launch, Span } from './recorder.ts';

/** One dispatch of a launch, as the device gets it. */
export interface Dispatch {
  readonly kernel: Kernel;
  /** What is bound, in the kernel's order. */
  readonly spans: readonly Span[];
  /** The kernel's uniforms. */
  readonly words: Uint32Array;
  readonly grid: readonly [x: number, y: number, z: number];
  readonly variant: string | undefined;
}

/** The dispatches of a launch: one, unless it has more workgroups than fit a grid and none of its own. */
export function dispatchesOf(
  { kernel, storage, uniforms, groups, grid: own, variant }: Launch,
  most: number,
): Dispatch[] {
  const spans = kernel.storage.map(({ name }) => spanOf(kernel, storage, name));
  if (own !== undefined)
    return [{ kernel, spans, words: uniformWords(kernel, 0, groups, uniforms), grid: own, variant }];
  return dispatches(groups, most).map(({ first, grid }) => {
    return { kernel, spans, words: uniformWords(kernel, first, groups, uniforms), grid, variant };
  });
}

function spanOf(kernel: Kernel, storage: Launch['storage'], name: string): Span {
  const found = storage[name];
  if (found === undefined) throw new BackendError('DEVICE_ERROR', `kernel ${kernel.name}: nothing is bound to ${name}`);
  return found;
}

/**
 * The module that a browser gets instead of the Level Zero backend: the same names, which say why there is none. Nothing native is
 * imported.
 *
 * @packageDocumentation
 */
import { BackendError, type BackendProvider } from '@concord/backend-core';
import { BackendLifecycle, type InitResult } from '@concord/backend-core/implement';

export { levelZeroVariants } from './kernels/families.ts';
export { defineKernel } from './kernels/kernel.ts';
export { splitGemm } from './split-gemm.ts';

const MESSAGE = 'Level Zero needs Node';
const HINT = 'in a browser use @concord/backend-webgpu';

/** A provider whose `probe` says `wrong-platform`. */
export function levelZero(): BackendProvider {
  return {
    name: 'level-zero',
    priority: 20,
    contractVersion: 3,
    probe: () => Promise.resolve({ available: false, reason: 'wrong-platform', message: MESSAGE, hint: HINT }),
    create: () => Promise.reject(wrongPlatform()),
  };
}

/** A backend whose `init` fails with BACKEND_UNAVAILABLE. */
export class LevelZeroBackend extends BackendLifecycle {
  readonly name = 'level-zero';

  protected doInit(): Promise<InitResult> {
    return Promise.reject(wrongPlatform());
  }

  protected capabilitiesOf(): never {
    throw wrongPlatform();
  }

  protected doDispose(): Promise<void> {
    return Promise.resolve();
  }
}

/** A client that cannot be opened. */
export const LevelZeroClient: { open(): Promise<never> } = { open: () => Promise.reject(wrongPlatform()) };

function wrongPlatform(): BackendError {
  return new BackendError('BACKEND_UNAVAILABLE', MESSAGE, {
    backend: 'level-zero',
    reason: 'wrong-platform',
    hint: HINT,
  });
}

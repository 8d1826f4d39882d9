import type { ComputeBackend } from '@concord/backend-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { backendsOf, openBackend } from './open-backend.ts';

/** Describes tests on the oracle and on WebAssembly, or the backends that are asked for. */
export function onBackends(what: string, tests: (backend: () => ComputeBackend) => void): void {
  describe.each(backendsOf('cpu,wasm'))(`${what} on %s`, (name) => {
    let backend: ComputeBackend;
    beforeAll(async () => {
      backend = await openBackend(name);
    });
    afterAll(() => backend.dispose());
    tests(() => backend);
  });
}

import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { WasmBackend } from '@concord/backend-wasm';
import { afterAll, beforeAll, describe } from 'vitest';

/** Describes tests on the oracle and on WebAssembly. */
export function onBackends(what: string, tests: (backend: () => ComputeBackend) => void): void {
  describe.each([
    ['cpu', CpuBackend],
    ['wasm', WasmBackend],
  ] as const)(`${what} on %s`, (_, kind) => {
    let backend: ComputeBackend;
    beforeAll(async () => {
      backend = await kind.create();
      await backend.init();
    });
    afterAll(() => backend.dispose());
    tests(() => backend);
  });
}

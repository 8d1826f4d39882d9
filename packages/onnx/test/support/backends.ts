import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { WasmBackend } from '@concord/backend-wasm';
import { afterAll, beforeAll, describe } from 'vitest';

/** Describes tests on the oracle and on WebAssembly. */
export function onBackends(what: string, tests: (backend: () => ComputeBackend) => void): void {
  describe.each([
    ['cpu', (): Promise<ComputeBackend> => CpuBackend.create()],
    ['wasm', (): Promise<ComputeBackend> => WasmBackend.create()],
  ] as const)(`${what} on %s`, (_, create) => {
    let backend: ComputeBackend;
    beforeAll(async () => {
      backend = await create();
      await backend.init();
    });
    afterAll(() => backend.dispose());
    tests(() => backend);
  });
}

// Runs in the browser, bundled as an application's own code is: with the packages as they are built.
import { type ConformanceReport, runConformance } from '@concord/conformance';
import { WasmBackend, type WasmBackendOptions } from '@concord/backend-wasm';

/** The functions that the tests call from outside the page. */
const wasmPage = {
  run: (options: WasmBackendOptions, sample: number): Promise<ConformanceReport> =>
    runConformance(() => new WasmBackend(options), { sample }),
  /** The error that `init` rejects with. */
  refusal: async (options: WasmBackendOptions): Promise<unknown> => {
    try {
      await (await WasmBackend.create(options)).dispose();
      return undefined;
    } catch (error) {
      const { code, detail, hint } = error as Record<string, unknown>;
      return { code, detail, hint };
    }
  },
};

declare global {
  var concordWasm: typeof wasmPage;
}
globalThis.concordWasm = wasmPage;

/* oxlint-disable import/default -- Vite gives the text of a file */
import programApi from '../kernel/program-api.ts?raw';
import playground from '../modules.d.ts?raw';
import typescript from './language.worker.ts?bundled';

/** TypeScript's language service, as the text of a worker. */
export const SCRIPT: string = typescript;

/** The types of the packages as built, and TypeScript's own, by the path that the worker knows. */
export const FILES: Readonly<Record<string, string>> = {
  '/kernel/program-api.ts': programApi,
  '/modules.d.ts': playground,
  ...Object.fromEntries(
    Object.entries(
      import.meta.glob<string>(
        [
          '../../node_modules/typescript/lib/lib.{decorators,es}*.d.ts',
          '../../../../packages/{backend-core,backend-cpu,backend-wasm,backend-webgpu,grad,kernel,ops,variants}/dist/**/*.d.ts',
        ],
        { query: '?raw', import: 'default', eager: true },
      ),
    ).map(([path, text]) => [path.replace(/^.*\/typescript(?=\/lib\/)|^.*(?=\/packages\/)/, ''), text]),
  ),
};

/**
 * The compute contract in pure TypeScript.
 *
 * @packageDocumentation
 */
export { CpuBackend, type CpuNative } from './cpu-backend.ts';
export { cpu } from './provider.ts';

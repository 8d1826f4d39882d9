/**
 * The compute contract on WebAssembly: SIMD and threads on the CPU.
 *
 * @packageDocumentation
 */
export type { WasmBackendOptions, WasmOptions } from './options.ts';
export type { WasmMode } from './pool/machine.ts';
export { wasm } from './provider.ts';
export { WasmBackend, type WasmNative } from './wasm-backend.ts';
export type { WasmBuffer } from './kernels/kernel.ts';

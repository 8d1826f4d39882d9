/**
 * The compute contract on WebAssembly: SIMD and threads on the CPU.
 *
 * @packageDocumentation
 */
export type { WasmBuffer } from './wasm-buffer.ts';

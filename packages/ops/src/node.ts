/**
 * Files, for Node: reading and writing weights.
 *
 * @packageDocumentation
 */
export type { ByteSource, OpenBytes } from './weights/byte-source.ts';
export { fileSource } from './weights/file-source.ts';
export { saveSafetensors } from './weights/save-safetensors.ts';

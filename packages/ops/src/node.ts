/**
 * Files, for Node: reading, writing and keeping weights.
 *
 * @packageDocumentation
 */
export type { ByteSource, OpenBytes } from './weights/byte-source.ts';
export { fileSource } from './weights/file-source.ts';
export { folderCache } from './weights/folder-cache.ts';
export type { WeightCache, WeightCacheOptions } from './weights/weight-cache.ts';
export { saveSafetensors } from './weights/save-safetensors.ts';

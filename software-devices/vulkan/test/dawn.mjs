// @ts-check
/**
 * @typedef {object} Dawn
 * @property {(options: string[]) => GPU} create
 * @property {Constants} globals
 */
/**
 * @typedef {object} Constants what a browser has as globals, as far as it is used here
 * @property {{ STORAGE: number, COPY_SRC: number, COPY_DST: number, MAP_READ: number }} GPUBufferUsage
 * @property {{ READ: number }} GPUMapMode
 */

// Named in a variable, to keep its types out: they bring @webgpu/types, which contradict those of TypeScript's lib.dom.
const name = 'webgpu';
/** @type {Dawn} */
const dawn = await import(name);

export const { GPUBufferUsage, GPUMapMode } = dawn.globals;

/** Dawn's `navigator.gpu`. Held for good, since Dawn aborts when it is collected while something of it is in use. */
export const gpu = dawn.create([]);
Object.assign(globalThis, { concordTestGpu: gpu });

// Node has no globals for these; the values are fixed by the WebGPU specification.

/** Bits of `GPUBufferUsage`. */
export const USAGE: {
  readonly mapRead: 1;
  readonly mapWrite: 2;
  readonly copySrc: 4;
  readonly copyDst: 8;
  readonly uniform: 64;
  readonly storage: 128;
} = { mapRead: 1, mapWrite: 2, copySrc: 4, copyDst: 8, uniform: 64, storage: 128 };

/** `GPUMapMode.READ` */
export const MAP_READ = 1;

/** `GPUShaderStage.COMPUTE` */
export const STAGE_COMPUTE = 4;

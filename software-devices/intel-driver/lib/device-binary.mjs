// @ts-check
// Reads the native binaries of this version of the driver: an ELF around the "patch token" format of Intel's compiler
// (IGC/AdaptorOCL/ocl_igc_shared/executable_format in its sources, patch_list.h and patch_shared.h). A binary of one
// kernel is enough here.

/**
 * @typedef {object} DeviceKernel
 * @property {number} simd lanes of a thread
 * @property {number} grf registers of a thread
 * @property {number} slm bytes of workgroup memory
 * @property {number} scratch bytes of memory behind each thread, for what does not fit in registers, and private arrays
 * @property {Uint8Array} code
 */

const MAGIC = 0x494e5443;
const ELF = { sections: 0x28, sectionSize: 0x3a, sectionCount: 0x3c, type: 0x04, offset: 0x18 };
/** The type of the section with the program. */
const DEVICE_BINARY = 0xff000005;
const HEADER = { size: 28, kernels: 16, patches: 24 };
const KERNEL = { size: 40, name: 12, patches: 16, heaps: [20, 24, 28, 32], codeSize: 36 };
/** Patch tokens, and where the numbers are in what follows token and size. */
const LOCAL = { token: 15, bytes: 12 };
const SCRATCH = { tokens: [18, 55], bytes: 12 };
const ENVIRONMENT = { token: 23, simd: 8 + 4 * 3, registers: 8 + 4 * 20 };

/**
 * The first kernel of a native binary.
 *
 * @param {Uint8Array} binary as of `zeModuleGetNativeBinary`
 * @returns {DeviceKernel}
 * @throws {Error} for what is no such binary
 */
export function readKernel(binary) {
  const view = new DataView(binary.buffer, binary.byteOffset, binary.byteLength);
  const word = (/** @type {number} */ at) => view.getUint32(at, true);
  const program = findProgram(view);
  if (word(program) !== MAGIC) throw new Error('the device binary is of an unknown format');
  if (word(program + HEADER.kernels) === 0) throw new Error('the device binary has no kernel');
  const header = program + HEADER.size + word(program + HEADER.patches);
  const code = header + KERNEL.size + word(header + KERNEL.name);
  const patches = KERNEL.heaps.reduce((at, heap) => at + word(header + heap), code);
  const kernel = { simd: 0, grf: 0, slm: 0, scratch: 0 };
  const end = patches + word(header + KERNEL.patches);
  for (let at = patches; at < end; at += word(at + 4)) {
    const token = word(at);
    if (token === LOCAL.token) kernel.slm += word(at + LOCAL.bytes);
    if (SCRATCH.tokens.includes(token)) kernel.scratch += word(at + SCRATCH.bytes);
    if (token !== ENVIRONMENT.token) continue;
    kernel.simd = word(at + ENVIRONMENT.simd);
    kernel.grf = word(at + ENVIRONMENT.registers);
  }
  return { ...kernel, code: binary.subarray(code, code + word(header + KERNEL.codeSize)) };
}

/** @param {DataView} view @returns {number} where the program starts */
function findProgram(view) {
  const table = Number(view.getBigUint64(ELF.sections, true));
  const size = view.getUint16(ELF.sectionSize, true);
  for (let index = 0; index < view.getUint16(ELF.sectionCount, true); index++) {
    const section = table + index * size;
    if (view.getUint32(section + ELF.type, true) === DEVICE_BINARY)
      return Number(view.getBigUint64(section + ELF.offset, true));
  }
  throw new Error('the binary has no program for a device');
}

export { assemble } from './assemble.ts';
export { disassemble, type DisassembleOptions } from './disassemble.ts';
export { SpirvTextError, type SpirvTextPlace } from './spirv-text-error.ts';

import type { Operand } from '@concord/backend-core/implement';
import type { WasmBuffer } from '../../wasm-buffer.ts';

/** The address of an operand in the linear memory; 0 for one that is absent and not read. */
export function operandAddress(operand: Operand<WasmBuffer> | undefined): number {
  return operand === undefined ? 0 : operand.buffer.address + operand.byteOffset;
}

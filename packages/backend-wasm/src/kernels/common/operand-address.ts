import type { Operand } from '@concord/backend-core/implement';
import type { WasmBuffer } from '../../wasm-buffer.ts';

/** Where an operand begins in the linear memory; 0 for one that is not there and not read. */
export function operandAddress(operand: Operand<WasmBuffer> | undefined): number {
  return operand === undefined ? 0 : operand.buffer.address + operand.byteOffset;
}

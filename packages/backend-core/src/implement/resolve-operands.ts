import { byteSize, type CheckedCall, type OperandSpec } from '../contract/checks.ts';
import { invalid } from '../errors/invalid.ts';
import type { AllocationTable } from './allocation-table.ts';
import type { Operand } from './resolved.ts';

/**
 * The last three checks of every op, in this order: alignment, pointers and extents, overlap. Operands of zero extent
 * are left out.
 *
 * @param target - gets the native operands, by name
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function resolveOperands<Buffer>(
  table: AllocationTable<Buffer>,
  checked: CheckedCall,
  pointers: Readonly<Record<string, number>>,
  target: object,
): void {
  const elementBytes = byteSize(checked.dtype);
  const { operands } = checked;
  for (const { name, elements } of operands) {
    const address = pointers[name] as number;
    if (elements > 0 && address % elementBytes !== 0) {
      throw invalid(`${name} must be aligned to ${elementBytes} bytes, got address ${address}`);
    }
  }
  const resolved = target as Record<string, Operand<Buffer>>;
  for (const { name, elements } of operands) {
    if (elements > 0) resolved[name] = table.resolve(name, pointers[name] as number, elements * elementBytes);
  }
  for (const output of operands) {
    if (output.output === true && output.elements > 0) checkOverlaps(output, operands, pointers, elementBytes);
  }
}

/** @throws {BackendError} INVALID_ARGUMENT when an operand overlaps `output` without being what it may alias */
function checkOverlaps(
  output: OperandSpec,
  operands: readonly OperandSpec[],
  pointers: Readonly<Record<string, number>>,
  elementBytes: number,
): void {
  const start = pointers[output.name] as number;
  const end = start + output.elements * elementBytes;
  for (const input of operands) {
    if (input === output || input.elements === 0) continue;
    const address = pointers[input.name] as number;
    const overlaps = address < end && start < address + input.elements * elementBytes;
    if (overlaps && !(address === start && output.mayAlias?.includes(input.name) === true)) {
      throw invalid(`${output.name} overlaps ${input.name}`);
    }
  }
}

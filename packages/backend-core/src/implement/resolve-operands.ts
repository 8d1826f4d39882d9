import { byteSize, type CheckedCall, type OperandSpec } from '../contract/checks.ts';
import { invalid } from '../errors/invalid.ts';
import type { AllocationTable } from './allocation-table.ts';
import type { Operand } from './resolved.ts';

/**
 * The last three checks of every op, in this order: alignment, pointers and extents, overlap. Operands of zero extent
 * are left out.
 *
 * @returns the native operands by name
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function resolveOperands<Buffer>(
  table: AllocationTable<Buffer>,
  checked: CheckedCall,
  pointers: Readonly<Record<string, number>>,
): Record<string, Operand<Buffer>> {
  const elementBytes = byteSize(checked.dtype);
  const touched = checked.operands.filter((operand) => operand.elements > 0);
  const address = (operand: OperandSpec): number => pointers[operand.name] as number;

  for (const operand of touched) {
    if (address(operand) % elementBytes !== 0) {
      throw invalid(`${operand.name} must be aligned to ${elementBytes} bytes, got address ${address(operand)}`);
    }
  }
  const resolved: Record<string, Operand<Buffer>> = {};
  for (const operand of touched) {
    resolved[operand.name] = table.resolve(operand.name, address(operand), operand.elements * elementBytes);
  }
  for (const output of touched.filter((operand) => operand.output)) {
    for (const input of touched) {
      if (input === output) continue;
      const same = address(input) === address(output) && output.mayAlias?.includes(input.name) === true;
      if (!same && overlaps(address(input), input.elements, address(output), output.elements, elementBytes)) {
        throw invalid(`${output.name} overlaps ${input.name}`);
      }
    }
  }
  return resolved;
}

function overlaps(x: number, xElements: number, y: number, yElements: number, elementBytes: number): boolean {
  return x < y + yElements * elementBytes && y < x + xElements * elementBytes;
}

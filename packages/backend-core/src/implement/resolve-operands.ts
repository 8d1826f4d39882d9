import { BYTES_OF } from '../contract/capabilities.ts';
import { invalid } from '../errors/invalid.ts';
import type { OperandSpec } from '../ops/op-definition.ts';
import type { AllocationTable } from './allocation-table.ts';
import type { Operand } from './operand.ts';

/**
 * The last three checks of every op, in this order: alignment, pointers and extents, overlap. Operands of zero extent
 * are left out.
 *
 * @param pointers - the address of each operand, by name
 * @param target - gets the native operands, by name
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function resolveOperands<Buffer>(
  table: AllocationTable<Buffer>,
  operands: readonly OperandSpec[],
  pointers: Readonly<Record<string, number>>,
  target: object,
): void {
  for (const { name, elements, dtype } of operands) {
    const address = pointers[name] as number;
    if (elements > 0) checkAlignment(table, name, address, BYTES_OF[dtype]);
  }
  const resolved = target as Record<string, Operand<Buffer>>;
  for (const { name, elements, dtype } of operands) {
    if (elements > 0) resolved[name] = table.resolve(name, pointers[name] as number, elements * BYTES_OF[dtype]);
  }
  for (const output of operands) {
    if (output.output === true && output.elements > 0) checkOverlaps(table, output, operands, pointers);
  }
}

/** @throws {BackendError} INVALID_ARGUMENT unless the address is a multiple of the element's bytes */
export function checkAlignment(
  table: Pick<AllocationTable<unknown>, 'placeOf'>,
  name: string,
  address: number,
  bytes: number,
): void {
  if (address % bytes === 0) return;
  throw invalid(`${name} must be aligned to ${bytes} bytes, got address ${address}${table.placeOf(address)}`);
}

/** @throws {BackendError} INVALID_ARGUMENT when an operand overlaps `output` without being what it may alias */
function checkOverlaps(
  table: Pick<AllocationTable<unknown>, 'placeOf'>,
  output: OperandSpec,
  operands: readonly OperandSpec[],
  pointers: Readonly<Record<string, number>>,
): void {
  const start = pointers[output.name] as number;
  const end = start + output.elements * BYTES_OF[output.dtype];
  for (const other of operands) {
    if (other === output || other.elements === 0) continue;
    const address = pointers[other.name] as number;
    const overlaps = address < end && start < address + other.elements * BYTES_OF[other.dtype];
    if (overlaps && !(address === start && output.mayAlias?.includes(other.name) === true)) {
      throw invalid(`${output.name} overlaps ${other.name}${table.placeOf(start)}`);
    }
  }
}

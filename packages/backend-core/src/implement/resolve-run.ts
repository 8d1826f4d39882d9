import { BYTES_OF } from '../contract/capabilities.ts';
import { invalid } from '../errors/invalid.ts';
import { areDistinct } from '../kernel/check-run.ts';
import type { CheckedRun, ResolvedRun, RunLayout } from '../kernel/checked-run.ts';
import type { AllocationTable } from './allocation-table.ts';
import type { Operand } from './operand.ts';
import { checkAlignment } from './resolve-operands.ts';

type Addresses = readonly (number | undefined)[];
type Places = Pick<AllocationTable<unknown>, 'placeOf'>;

/**
 * The last checks of a call of a kernel: alignment, pointers and extents, overlap. Operands of no elements are left out.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function resolveRun<Buffer>(
  table: AllocationTable<Buffer>,
  geometry: CheckedRun,
  inputs: Addresses,
  outputs: Addresses,
  params: readonly number[],
): ResolvedRun<Buffer> {
  checkAlignments(table, 'inputs', geometry.inputs, inputs);
  checkAlignments(table, 'outputs', geometry.outputs, outputs);
  const read = operandsOf(table, 'inputs', geometry.inputs, inputs);
  const written = operandsOf(table, 'outputs', geometry.outputs, outputs);
  const inPlace = geometry.outputs.map((_, index) => checkOverlaps(table, geometry, { inputs, outputs }, index));
  return { geometry, inputs: read, outputs: written, params, inPlace };
}

/** @throws {BackendError} INVALID_ARGUMENT unless every operand has an address */
export function checkGiven(what: string, layouts: readonly { readonly name: string }[], addresses: Addresses): void {
  const missing = layouts.find((_, index) => addresses[index] === undefined);
  if (missing !== undefined) throw invalid(`${what}.${missing.name} must be a DevicePtr, got undefined`);
}

function checkAlignments(table: Places, what: string, layouts: readonly RunLayout[], addresses: Addresses): void {
  for (const [index, { name, dtype, extent }] of layouts.entries()) {
    if (extent > 0) checkAlignment(table, `${what}.${name}`, addresses[index] as number, BYTES_OF[dtype]);
  }
}

function operandsOf<Buffer>(
  table: AllocationTable<Buffer>,
  what: string,
  layouts: readonly RunLayout[],
  addresses: Addresses,
): (Operand<Buffer> | undefined)[] {
  return layouts.map(({ name, dtype, extent }, index) =>
    extent === 0 ? undefined : table.resolve(`${what}.${name}`, addresses[index] as number, extent * BYTES_OF[dtype]),
  );
}

/** @returns whether the output is in the place of inputs @throws {BackendError} INVALID_ARGUMENT for any other overlap */
function checkOverlaps(
  table: Places,
  geometry: CheckedRun,
  { inputs, outputs }: { readonly inputs: Addresses; readonly outputs: Addresses },
  index: number,
): boolean {
  const output = geometry.outputs[index] as RunLayout;
  const address = outputs[index] as number;
  const refuse = (other: string): never => {
    throw invalid(`outputs.${output.name} overlaps ${other}${table.placeOf(address)}`);
  };
  let isInPlace = false;
  for (const [at, input] of geometry.inputs.entries()) {
    const distance = (inputs[at] as number) - address;
    if (!overlaps(output, input, distance)) continue;
    if (!isSamePlace(output, input, distance)) refuse(`inputs.${input.name}`);
    isInPlace = true;
  }
  for (const [at, other] of geometry.outputs.slice(0, index).entries()) {
    if (overlaps(output, other, (outputs[at] as number) - address)) refuse(`outputs.${other.name}`);
  }
  return isInPlace;
}

/** Returns whether two operands, the second `distance` bytes after the first, may touch the same memory. */
function overlaps(a: RunLayout, b: RunLayout, distance: number): boolean {
  if (a.extent === 0 || b.extent === 0) return false;
  if (distance >= a.extent * BYTES_OF[a.dtype] || -distance >= b.extent * BYTES_OF[b.dtype]) return false;
  if (!isAlike(a, b) || distance === 0) return true;
  // Interleaved views: one more axis of two indices, as far apart as they are.
  return !areDistinct([...a.shape, 2], [...a.strides, Math.abs(distance) / BYTES_OF[a.dtype]]);
}

/** All of an element is read before it is stored, so that an output may take the place of what it is computed from. */
function isSamePlace(output: RunLayout, input: RunLayout, distance: number): boolean {
  return distance === 0 && output.access === 'element' && input.access === 'element' && isAlike(output, input);
}

function isAlike(a: RunLayout, b: RunLayout): boolean {
  return (
    a.dtype === b.dtype &&
    a.shape.length === b.shape.length &&
    a.shape.every((size, axis) => size === b.shape[axis] && a.strides[axis] === b.strides[axis])
  );
}

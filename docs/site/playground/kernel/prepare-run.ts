import type { DType } from '@concord/backend-core';
import {
  type AskedRun,
  type CheckedRun,
  checkedRun,
  type GatherView,
  type Kernel,
  type RunLayout,
  type RunShape,
  type RunView,
} from '@concord/backend-core/kernel';
import type { StoredElements } from '@concord/backend-cpu/reference';
import { ProgramError } from './fault.ts';
import type { GivenInput, Numbers, Planned, PlaygroundCall } from './program-api.ts';
import { storedOf } from './stored.ts';

/** A run with its operands on the host. */
export interface PreparedRun {
  readonly kernel: Kernel;
  readonly geometry: CheckedRun;
  /** The call without numbers, for `explain`. */
  readonly shape: Omit<RunShape, 'kernel'>;
  /** For each input its elements in memory. */
  readonly inputs: Readonly<Record<string, StoredElements>>;
  readonly params: Readonly<Record<string, number>>;
}

/**
 * Checks the call of a program and converts its numbers to the types of the kernel.
 *
 * @throws {BackendError} INVALID_ARGUMENT as `run`
 * @throws {ProgramError} where an input is missing or has too few numbers
 */
export function prepareRun({ kernel, call }: Planned): PreparedRun {
  const given = Object.fromEntries(
    Object.entries(call.inputs ?? {}).map(([name, input]) => [name, isGiven(input) ? input : { values: input }]),
  );
  const shape = shapeOf(call, given);
  const geometry = checkedRun(kernel, shape);
  const inputs = Object.fromEntries(
    geometry.inputs.map((layout) => [layout.name, stored(kernel, layout, given[layout.name])]),
  );
  return { kernel, geometry, shape, inputs, params: call.params ?? {} };
}

function isGiven(input: Numbers | GivenInput): input is GivenInput {
  return !ArrayBuffer.isView(input) && !Array.isArray(input) && 'values' in input;
}

function shapeOf({ shape, folded, outputs = {} }: PlaygroundCall, given: Record<string, GivenInput>): AskedRun {
  const views = Object.entries(given).map(([name, { shape: own, strides, dtype }]): [string, RunView | GatherView] => [
    name,
    { ...(own && { shape: own }), ...(strides && { strides }), ...(dtype && { dtype }) },
  ]);
  return { shape, ...(folded === undefined ? {} : { folded }), inputs: Object.fromEntries(views), outputs };
}

function stored(kernel: Kernel, { name, dtype, extent }: RunLayout, given: GivenInput | undefined): StoredElements {
  if (given === undefined) {
    const names = kernel.inputs.map((input) => input.name).join(', ');
    throw new ProgramError({
      message: `input ${name} has no numbers`,
      hint: `give each input of ${kernel.name} its numbers: ${names}`,
    });
  }
  const elements = storedOf(dtype, given.values);
  if (elements.length >= extent) return elements;
  throw new ProgramError({
    message: `input ${name} has ${counted(elements.length, dtype)}, and the call reads ${extent.toLocaleString('en')}`,
    hint: 'an input of each element needs as many numbers as the shape has points',
  });
}

function counted(count: number, dtype: DType): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'element' : 'elements'} of ${dtype}`;
}

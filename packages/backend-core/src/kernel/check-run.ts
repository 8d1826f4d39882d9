import { checkOneOf, checkSize, checkSizes, describe, packedExtent, checkedExtent } from '../contract/checks.ts';
import { invalid } from '../errors/invalid.ts';
import type { Feature } from '../ops/op-definition.ts';
import type { CheckedRun, RunLayout } from './checked-run.ts';
import type { Kernel, KernelInput, KernelNode, KernelOutput } from './graph.ts';
import { type NibbleLayout, withBytes } from './nibble-inputs.ts';
import type { RunShape, RunView, GatherView } from './run-call.ts';
import { MAX_SIZE } from './run-size.ts';
import { STORAGE_DTYPES } from './value-types.ts';

const MAX_RANK = 8;

/** The element type of 4 bits that an input of a type may have in memory. */
const NIBBLES = { i32: 'i4', u32: 'u4' } as const;

let lastId = 0;

/**
 * The rules of a call of a kernel, but for its pointers and parameters.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkRun(kernel: Kernel, call: Omit<RunShape, 'kernel'>): CheckedRun {
  const shape = checkDimensions('shape', call.shape, MAX_RANK);
  if (!Number.isSafeInteger(shape.reduce((product, size) => product * size, 1))) {
    throw invalid(`the domain [${shape.join(', ')}] must have fewer than 2^53 points`);
  }
  const folded = checkFolded(kernel, shape, call.folded);
  const rowShape = shape.slice(0, shape.length - folded);
  const rowLength = packedExtent('a row', shape.slice(rowShape.length));
  if (rowLength > MAX_SIZE) throw invalid(`the folded axes have ${rowLength} elements, more than 2^32 - 1`);
  checkAxes(kernel, shape.length, rowShape.length);

  const given = { inputs: call.inputs ?? {}, outputs: call.outputs ?? {} };
  const own = (access: RunLayout['access']) => (access === 'row' ? rowShape : shape);
  const nibbles = new Map<string, NibbleLayout & { readonly extent: number }>();
  const inputs = kernel.inputs.map((input) => {
    const view = given.inputs[input.name] ?? {};
    const what = `input ${input.name}`;
    const sizes = input.access === 'gather' ? ownShape(what, input.rank, view as GatherView) : own(input.access);
    const nibble = input.type === 'f32' ? undefined : NIBBLES[input.type];
    if (nibble === undefined || view.dtype !== nibble) return layout(what, input, input.access, sizes, view);
    const elements = layout(what, input, input.access, sizes, { ...view, dtype: input.type });
    if (elements.extent > MAX_SIZE)
      throw invalid(`${what} spans ${elements.extent} elements of 4 bits, more than 2^32 - 1`);
    nibbles.set(input.name, { ...elements, dtype: nibble });
    return elements;
  });
  if (nibbles.size > 0) {
    const bytes = [...nibbles].map(([name, { extent }]) => [name, { dtype: 'u8', shape: [Math.ceil(extent / 2)] }]);
    return checkRun(withBytes(kernel, nibbles), { ...call, inputs: { ...given.inputs, ...Object.fromEntries(bytes) } });
  }
  const outputs = kernel.outputs.map((output) => {
    const what = `output ${output.name}`;
    const { level, scatter } = output;
    const view = given.outputs[output.name] ?? {};
    const sizes = scatter === undefined ? own(level) : ownShape(what, scatter.indices.length, view as GatherView);
    const checked = layout(what, output, scatter === undefined ? level : 'scatter', sizes, view);
    const input = inputs.find(({ name }) => name === output.name);
    if (input !== undefined && !isAlike(input, checked)) {
      throw invalid(
        `${what} has the name of an input, so that it must be stored in its place, with its strides and dtype`,
      );
    }
    if (checked.extent > 0) checkDistinct(what, checked.shape, checked.strides);
    return checked;
  });
  return Object.freeze({
    id: ++lastId,
    kernel,
    shape: Object.freeze(shape),
    folded,
    rowCount: rowShape.reduce((product, size) => product * size, 1),
    rowLength,
    inputs: Object.freeze(inputs),
    outputs: Object.freeze(outputs),
    ...needsOf(kernel),
  });
}

function needsOf({ nodes, outputs }: Kernel): Pick<CheckedRun, 'needs'> {
  const needs: Feature<'run'>[] = [];
  if (outputs.some(({ scatter }) => scatter !== undefined)) needs.push('scatter');
  if (nodes.some(({ kind }) => kind === 'scan')) needs.push('scan');
  return needs.length === 0 ? {} : { needs };
}

/** Returns whether two operands differ at most in where they begin. */
export function isAlike(a: RunLayout, b: RunLayout): boolean {
  return (
    a.dtype === b.dtype &&
    a.shape.length === b.shape.length &&
    a.shape.every((size, axis) => size === b.shape[axis] && a.strides[axis] === b.strides[axis])
  );
}

/**
 * Returns whether a view's elements are distinct, by the rule that each stride is beyond what the lesser ones reach.
 */
export function areDistinct(shape: readonly number[], strides: readonly number[]): boolean {
  const axes = shape
    .map((size, axis) => ({ size, stride: strides[axis] as number }))
    .filter(({ size }) => size > 1)
    .sort((a, b) => a.stride - b.stride);
  let reach = 0;
  for (const { size, stride } of axes) {
    if (stride <= reach) return false;
    reach += (size - 1) * stride;
  }
  return true;
}

function checkDimensions(name: string, value: unknown, maxRank: number): readonly number[] {
  const sizes = checkSizes(name, value);
  if (sizes.length > maxRank) throw invalid(`${name} must have at most ${maxRank} axes, got ${sizes.length}`);
  for (const [axis, size] of sizes.entries()) {
    if (size > MAX_SIZE) throw invalid(`${name}[${axis}] must be below 2^32, got ${size}`);
  }
  return sizes;
}

function checkFolded(kernel: Kernel, shape: readonly number[], value: unknown): number {
  const folded = value ?? 0;
  checkSize('folded', folded);
  if (folded > shape.length) throw invalid(`folded ${folded} exceeds the ${shape.length} axes of shape`);
  // Forgotten, it would silently give, say, the softmax of single elements.
  if (kernel.hasRows && folded === 0) {
    throw invalid(`kernel ${kernel.name} has values of rows: folded must say how many of the last axes make a row`);
  }
  if (!kernel.hasRows && folded > 0) throw invalid(`kernel ${kernel.name} folds nothing: folded must be left out`);
  return folded;
}

/** Every axis that a node names must be there. */
function checkAxes(kernel: Kernel, rank: number, rowRank: number): void {
  for (const node of kernel.nodes) {
    if (!isAxisNode(node)) continue;
    const count = node.kind === 'rowIndex' ? rowRank : rank;
    if (node.axis >= count || node.axis < -count) {
      const what = node.kind === 'rowIndex' ? 'axes that are not folded' : 'axes';
      throw invalid(`kernel ${kernel.name} asks for ${node.kind}(${node.axis}) of ${count} ${what}`);
    }
  }
}

function isAxisNode(node: KernelNode): node is Extract<KernelNode, { axis: number }> {
  return node.kind === 'index' || node.kind === 'rowIndex' || node.kind === 'extent';
}

/** The shape of what is read or written by index. */
function ownShape(what: string, rank: number, view: GatherView): readonly number[] {
  const sizes = checkDimensions(`the shape of ${what}`, view.shape, MAX_RANK);
  if (sizes.length !== rank) throw invalid(`the shape of ${what} must have ${rank} axes, got ${sizes.length}`);
  return sizes;
}

function layout(
  what: string,
  { name, type }: KernelInput | KernelOutput,
  access: RunLayout['access'],
  shape: readonly number[],
  view: RunView,
): RunLayout {
  const dtype = view.dtype === undefined ? type : checkOneOf(`dtype of ${what}`, view.dtype, STORAGE_DTYPES[type]);
  const strides = view.strides === undefined ? denseStrides(shape) : checkStrides(what, shape, view.strides);
  const isEmpty = shape.includes(0);
  const last = shape.reduce((sum, size, axis) => sum + (size - 1) * (strides[axis] as number), 0);
  const extent = isEmpty ? 0 : checkedExtent(what, last + 1);
  return Object.freeze({ name, type, dtype, access, shape, strides: Object.freeze(strides), extent });
}

function denseStrides(shape: readonly number[]): readonly number[] {
  const strides = shape.map(() => 0);
  let elements = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const size = shape[axis] as number;
    if (size > 1) strides[axis] = elements;
    elements *= size;
  }
  return strides;
}

function checkStrides(what: string, shape: readonly number[], value: unknown): readonly number[] {
  const strides = checkSizes(`strides of ${what}`, value);
  if (strides.length !== shape.length) {
    throw invalid(`strides of ${what} must have ${shape.length} elements, got ${describe(value)}`);
  }
  return strides.map((stride, axis) => ((shape[axis] as number) > 1 ? stride : 0));
}

function checkDistinct(what: string, shape: readonly number[], strides: readonly number[]): void {
  if (areDistinct(shape, strides)) return;
  throw invalid(
    `strides [${strides.join(', ')}] of ${what} may let elements of shape [${shape.join(', ')}] coincide: ` +
      'sorted, each must exceed what the lesser ones reach',
  );
}

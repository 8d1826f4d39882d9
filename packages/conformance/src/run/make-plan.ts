import type { DType } from '@concord/backend-core';
import type { Kernel, KernelInput, KernelOutput, RunLayout } from '@concord/backend-core/kernel';
import { Random } from '../harness/random.ts';
import { type DataKind, drawBits } from './data.ts';
import { type PlaceKind, placeOperands } from './placement.ts';
import type { PlannedOperand, RunPlan } from './plan.ts';
import { denseStrides, drawStrides, eachElement, extentOf, sizeOf, type ViewKind } from './view.ts';

/** The parts of a plan. */
export interface PlanRequest {
  /** The random numbers of each aspect and operand start from it: one aspect can change and the others stay. */
  readonly seed: string;
  readonly kernel: Kernel;
  readonly shape: readonly number[];
  /** Ignored where the kernel has no rows. */
  readonly folded: number;
  readonly place: PlaceKind;
  /** Elements by which every operand is moved away from the alignment of its allocation. */
  readonly offset: number;
  readonly params: Readonly<Record<string, number>>;
  dataOf(operand: Pick<KernelInput, 'name' | 'type'> & { readonly access: RunLayout['access'] }): DataKind;
  dtypeOf(operand: KernelInput | KernelOutput): DType;
  viewOf(operand: KernelInput | KernelOutput): ViewKind;
  /** Sizes of the axes of what is read or written by index. */
  gatherShapeOf(operand: { readonly name: string; readonly rank: number }): readonly number[];
}

/** Lays a call of a kernel out and fills its inputs. */
export function makePlan(request: PlanRequest): RunPlan {
  const { kernel, shape, place, offset, params } = request;
  const folded = kernel.hasRows ? request.folded : 0;
  const domain = { shape, rowShape: shape.slice(0, shape.length - folded) };
  const inputs = kernel.inputs.map((input) => laidOutInput(request, domain, input));
  const outputs = kernel.outputs.map((output) => laidOutOutput(request, domain, output));
  const { operands, places } = placeOperands([...inputs, ...outputs], levelsOf(kernel), place, offset);
  const rowLength = folded === 0 ? sizeOf(shape) : sizeOf(shape.slice(domain.rowShape.length));
  const filled = operands.map((operand, index) => {
    const output = kernel.outputs[index - inputs.length];
    if (output !== undefined && output.scatter === undefined) return operand;
    const own = kernel.inputs[index] ?? { ...(output as KernelOutput), access: 'scatter' as const };
    return { ...operand, bits: drawContents(request, own, index, operand, rowLength) };
  });
  return { kernel, shape, folded, operands: shareBits(filled, places), places, params };
}

interface Domain {
  readonly shape: readonly number[];
  readonly rowShape: readonly number[];
}

function laidOutInput(request: PlanRequest, domain: Domain, input: KernelInput): PlannedOperand {
  const isGather = input.access === 'gather';
  const shape = isGather ? request.gatherShapeOf(input) : input.access === 'row' ? domain.rowShape : domain.shape;
  // What an output takes the place of has each element once.
  const isStored = request.kernel.outputs.some(({ name }) => name === input.name);
  return { ...laidOut(request, input, shape, isStored), isOutput: false, isGather };
}

function laidOutOutput(request: PlanRequest, { shape, rowShape }: Domain, output: KernelOutput): PlannedOperand {
  const { name, level, scatter } = output;
  if (scatter !== undefined) {
    const own = request.gatherShapeOf({ name, rank: scatter.indices.length });
    return { ...laidOut(request, output, own, true), isOutput: true, isGather: true };
  }
  return { ...laidOut(request, output, level === 'row' ? rowShape : shape, true), isOutput: true, isGather: false };
}

function laidOut(
  request: PlanRequest,
  operand: KernelInput | KernelOutput,
  shape: readonly number[],
  isOutput: boolean,
): Omit<PlannedOperand, 'isOutput' | 'isGather'> {
  const kind = request.viewOf(operand);
  const strides = drawStrides(new Random(`${request.seed} view ${operand.name}`), kind, shape, isOutput);
  return { name: operand.name, dtype: request.dtypeOf(operand), shape, strides, saysStrides: kind !== 'dense' };
}

function levelsOf({ inputs, outputs }: Kernel): readonly string[] {
  return [
    ...inputs.map(({ access, type }) => `${access} ${type}`),
    ...outputs.map(({ level, type, scatter }) => `${scatter === undefined ? level : 'scatter'} ${type}`),
  ];
}

/** The bits of an operand by distance: an element that is repeated is drawn once. */
function drawContents(
  request: PlanRequest,
  input: Parameters<PlanRequest['dataOf']>[0],
  index: number,
  { dtype, shape, strides }: PlannedOperand,
  rowLength: number,
): Uint32Array {
  const kind = request.dataOf(input);
  const random = new Random(`${request.seed} data ${input.name}`);
  const draw = drawBits(random, { kind, type: input.type, dtype, operand: index, rowLength });
  const bits = new Uint32Array(extentOf(shape, strides));
  const isDrawn = new Uint8Array(bits.length);
  eachElement(shape, strides, (element, distance) => {
    if (isDrawn[distance] === 1) return;
    isDrawn[distance] = 1;
    bits[distance] = draw(element);
  });
  return bits;
}

/** Inputs at one address hold the same. */
function shareBits(operands: readonly PlannedOperand[], places: RunPlan['places']): PlannedOperand[] {
  return operands.map((operand, index) => {
    const { buffer, byteOffset } = places[index] as RunPlan['places'][number];
    // Operands of no elements may begin where another does.
    const first = places.findIndex(
      (other, at) =>
        other.buffer === buffer &&
        other.byteOffset === byteOffset &&
        operands[at]?.bits?.length === operand.bits?.length,
    );
    const bits = operands[first]?.bits;
    return operand.isOutput || bits === undefined ? operand : { ...operand, bits };
  });
}

/** A view that is dense and in order: what a call without strides means. */
export function isDense({ shape, strides }: Pick<PlannedOperand, 'shape' | 'strides'>): boolean {
  const dense = denseStrides(shape);
  return strides.every((stride, axis) => shape[axis] === 1 || stride === dense[axis]);
}

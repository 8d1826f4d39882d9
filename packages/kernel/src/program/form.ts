import {
  type AxisNode,
  type Kernel,
  type KernelNode,
  type KernelOutput,
  type NodeOp,
  operandsOf,
} from '@concord/backend-core/kernel';
import { axisOf } from '../schedule/run-axes.ts';

/** A kernel and the axes of the code that runs it: what code depends on besides how its operands lie. */
export interface ProgramForm {
  readonly kernel: Kernel;
  /** Axes that are not folded, and those that are: coalesced, perhaps with some of size 1 before them. */
  readonly rowRank: number;
  readonly foldedRank: number;
  /** The axis that the neighbours of a vector lie along: the last one of these. */
  readonly along: 'rows' | 'folded';
  /** The axis of rows, then folded, of each axis of the domain that a node names. One of size 1 is absent. */
  readonly places: readonly (readonly [axis: number, place: number])[];
  /** Axes of the domain, and how many of them are not folded: what negative axes count from. */
  readonly rank: number;
  readonly unfolded: number;
}

/** Names of numbers that the code of a form is given, and of its operands. */
export const names = {
  input: (index: number): string => `in${index}`,
  output: (index: number): string => `out${index}`,
  size: (axis: number): string => `n${axis}`,
  /** The stride of an operand, or of a layout that operands share. */
  stride: (operand: number, axis: number): string => `s${operand}_${axis}`,
  extent: (axis: number): string => `extent${axis}`,
  gatherSize: (input: number, axis: number): string => `g${input}_n${axis}`,
  gatherStride: (input: number, axis: number): string => `g${input}_s${axis}`,
  parameter: (index: number): string => `p${index}`,
} as const;

/** The axis that vectors lie along. */
export function vectorAxis({
  along,
  rowRank,
  foldedRank,
}: Pick<ProgramForm, 'along' | 'rowRank' | 'foldedRank'>): number {
  return along === 'rows' ? rowRank - 1 : rowRank + foldedRank - 1;
}

/** The axis of the form that an `index` or `rowIndex` is of; -1 where it has one point. */
export function placeOf(
  form: Pick<ProgramForm, 'places' | 'rank' | 'unfolded'>,
  { axis, kind }: Pick<AxisNode, 'axis' | 'kind'>,
): number {
  const wanted = axisOf(axis, kind === 'rowIndex' ? form.unfolded : form.rank);
  return form.places.find(([named]) => named === wanted)?.[1] ?? -1;
}

/** The number of an input, or of a parameter, that a node names. */
export function numberOf(declared: Kernel['inputs'] | Kernel['params'], { name }: { readonly name: string }): number {
  return declared.findIndex((each) => each.name === name);
}

/** The numbers of the outputs of a level. */
export function outputsOf({ outputs }: Pick<Kernel, 'outputs'>, level: 'row' | 'element'): readonly number[] {
  return outputs.flatMap((output, index) => (output.level === level ? [index] : []));
}

/** The nodes that some outputs store, and those of the indices at which they do. */
export function storedNodes({ outputs }: Pick<Kernel, 'outputs'>, numbers: readonly number[]): readonly number[] {
  return numbers.flatMap((number) => {
    const { node, scatter } = outputs[number] as KernelOutput;
    return [node, ...(scatter?.indices ?? [])];
  });
}

/** A form as text: equal for equal code. */
export function formKey(form: ProgramForm): string {
  return JSON.stringify({ ...form, kernel: form.kernel.key });
}

/** Returns whether any node is such an operation. */
export function hasNode({ nodes }: Kernel, ...ops: readonly NodeOp[]): boolean {
  return nodes.some((node) => node.kind === 'arithmetic' && ops.includes(node.op));
}

/**
 * Returns whether products and sums may become one instruction. Not with `pow`, which finds what a product rounds off:
 * that would be nothing.
 */
export function canContract(kernel: Kernel): boolean {
  return !hasNode(kernel, 'pow');
}

/**
 * Returns, for each node, the axes along which it may have different values.
 *
 * @param moves - whether an input differs along an axis of the form
 */
export function axesOfNodes(
  form: ProgramForm,
  moves: (input: number, axis: number) => boolean,
): readonly ReadonlySet<number>[] {
  const { kernel, rowRank, foldedRank } = form;
  const all = Array.from({ length: rowRank + foldedRank }, (_, axis) => axis);
  const found: ReadonlySet<number>[] = [];
  for (const node of kernel.nodes) {
    switch (node.kind) {
      case 'input': {
        const input = numberOf(kernel.inputs, node);
        found.push(new Set(all.filter((axis) => moves(input, axis))));
        break;
      }
      case 'index':
      case 'rowIndex':
        found.push(new Set([placeOf(form, node)].filter((axis) => axis >= 0)));
        break;
      default: {
        const axes = operandsOf(node).flatMap((operand) => [...(found[operand] as ReadonlySet<number>)]);
        if (node.kind === 'scan') axes.push(...all.slice(rowRank));
        found.push(new Set(node.kind === 'fold' ? axes.filter((axis) => axis < rowRank) : axes));
      }
    }
  }
  return found;
}

/**
 * Returns whether neighbours of a vector are neighbours along the last axis of a gather input: its last index is that of the
 * vectors' axis, and no other one differs between them.
 */
export function gathersRun(form: ProgramForm, indices: readonly number[], varies: (node: number) => boolean): boolean {
  const last = form.kernel.nodes[indices.at(-1) as number];
  if (last?.kind !== 'index' && last?.kind !== 'rowIndex') return false;
  return placeOf(form, last) === vectorAxis(form) && !indices.slice(0, -1).some(varies);
}

/**
 * Some nodes and those that they need, as far as they are not known, each after its operands. What a fold folds, or a scan, it does not
 * need: its value comes from elsewhere.
 *
 * @param isSource - nodes besides folds and scans that need no others
 */
export function missingNodes(
  { nodes }: Kernel,
  roots: readonly number[],
  isKnown: (node: number) => boolean,
  isSource: (node: number) => boolean = () => false,
): readonly number[] {
  const missing = new Set<number>();
  const stack = [...roots];
  while (stack.length > 0) {
    const index = stack.pop() as number;
    if (missing.has(index) || isKnown(index)) continue;
    missing.add(index);
    const node = nodes[index] as KernelNode;
    if (node.kind !== 'fold' && node.kind !== 'scan' && !isSource(index)) stack.push(...operandsOf(node));
  }
  return [...missing].sort((a, b) => a - b);
}

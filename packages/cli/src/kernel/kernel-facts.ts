import { type Kernel, type KernelNode, operandsOf } from '@concord/backend-core/kernel';

/** The facts that follow from a kernel's graph. */
export interface KernelFacts {
  /** The number of its folds. */
  readonly folds: number;
  /** The longest chain of folds of which each needs the result of the one before. */
  readonly stages: number;
}

/** The folds of a kernel, and in how many steps they can be computed: a fold of what another fold gave comes after it. */
export function kernelFacts({ nodes }: Kernel): KernelFacts {
  const stages = stagesOf(nodes);
  return { folds: nodes.filter(({ kind }) => kind === 'fold').length, stages: Math.max(0, ...stages) };
}

/** Returns, for each node, the folds on the longest way to it, itself included. */
function stagesOf(nodes: readonly KernelNode[]): readonly number[] {
  const stages: number[] = [];
  for (const node of nodes) {
    const before = Math.max(0, ...operandsOf(node).map((operand) => stages[operand] as number));
    stages.push(before + (node.kind === 'fold' ? 1 : 0));
  }
  return stages;
}

/** A node in a few words, without its operands. */
export function nodeText(node: KernelNode): string {
  switch (node.kind) {
    case 'constant':
      return `constant ${constantText(node.type, node.bits)}`;
    case 'parameter':
    case 'input':
    case 'gather':
      return `${node.kind} ${node.name}`;
    case 'index':
    case 'rowIndex':
    case 'extent':
      return `${node.kind} ${node.axis}`;
    case 'fold':
      return `fold ${node.op}`;
    case 'scan':
      return `${node.exclusive ? 'exclusive ' : ''}${node.reverse ? 'reverse ' : ''}scan ${node.op}`;
    case 'arithmetic':
      return node.op;
    case 'spread':
      return 'spread';
  }
}

/** The value of a constant as it is written: of a float32, an integer or a bool. */
export function constantText(type: KernelNode['type'], bits: number): string {
  if (type === 'bool') return String(bits === 1);
  if (type === 'i32') return String(bits | 0);
  if (type === 'u32') return String(bits);
  const [value] = new Float32Array(Uint32Array.of(bits).buffer);
  return Object.is(value, -0) ? '-0' : String(value);
}

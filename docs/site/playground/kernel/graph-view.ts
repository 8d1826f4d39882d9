import { constantText, kernelFacts, nodeText } from '@concord/cli/reports';
import { type ConstantNode, type Kernel, operandsOf } from '@concord/backend-core/kernel';

/** A node of a kernel, for a table and a drawing. */
export interface GraphNode {
  readonly index: number;
  readonly text: string;
  readonly type: string;
  readonly level: string;
  readonly operands: readonly number[];
  readonly label?: string;
  /** The value of a constant, as it is written. */
  readonly constant?: string;
  /** The names of the outputs that store it. */
  readonly outputs: readonly string[];
}

/** A kernel as data. */
export interface GraphView {
  readonly name: string;
  readonly folds: number;
  readonly stages: number;
  readonly nodes: readonly GraphNode[];
}

/** A kernel as the page shows it: plain data, which a worker can send. */
export function graphView(kernel: Kernel): GraphView {
  const { name, nodes, labels, outputs } = kernel;
  return {
    name,
    ...kernelFacts(kernel),
    nodes: nodes.map((node, index) => ({
      index,
      text: nodeText(node),
      type: node.type,
      level: node.level,
      operands: operandsOf(node),
      ...(labels[index] === undefined ? {} : { label: labels[index] }),
      ...(node.kind === 'constant' ? { constant: shortConstant(node) } : {}),
      outputs: outputs.filter((output) => output.node === index).map((output) => output.name),
    })),
  };
}

/** A float32 with as many digits as tell it from its neighbours, mostly. */
function shortConstant({ type, bits }: ConstantNode): string {
  const text = constantText(type, bits);
  return type === 'f32' && text.length > 9 ? String(Number(Number(text).toPrecision(7))) : text;
}

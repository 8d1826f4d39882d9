import { kernelFacts, nodeText } from '@concord/cli/reports';
import { type Kernel, operandsOf } from '@concord/backend-core/kernel';

/** A node of a kernel, for a table. */
export interface GraphNode {
  readonly index: number;
  readonly text: string;
  readonly type: string;
  readonly level: string;
  readonly operands: readonly number[];
  readonly label?: string;
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
      outputs: outputs.filter((output) => output.node === index).map((output) => output.name),
    })),
  };
}

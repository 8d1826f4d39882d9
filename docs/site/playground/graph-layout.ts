import { Graph, layout } from '@dagrejs/dagre';
import type { GraphNode, GraphView } from './kernel/graph-view.ts';

/** A node with its place, in pixels: its middle and its size. */
export interface PlacedNode extends GraphNode {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A drawing of a graph, from the inputs at the top to the outputs at the bottom. */
export interface PlacedGraph {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  /** For each operand the path of its line, as SVG has it. */
  readonly lines: readonly string[];
}

/** A letter of the font that the drawing is set in, in pixels. */
const LETTER = 7;
const LINE = 17;

/** Places the nodes of a graph in layers. */
export function placeGraph({ nodes }: GraphView): PlacedGraph {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ ranksep: 28, nodesep: 14, marginx: 6, marginy: 6 });
  for (const node of nodes) {
    const longest = Math.max(...nodeLines(node).map((line) => line.length));
    graph.setNode(String(node.index), { width: LETTER * longest + 18, height: LINE * nodeLines(node).length + 10 });
    for (const [place, operand] of node.operands.entries()) {
      graph.setEdge(String(operand), String(node.index), {}, String(place));
    }
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    ...{ width, height },
    nodes: nodes.map((node) => {
      const { x, y, width: own, height: tall } = graph.node(String(node.index)) as Omit<PlacedNode, keyof GraphNode>;
      return { ...node, x, y, width: own, height: tall };
    }),
    lines: nodes.flatMap(({ index, operands }) =>
      operands.map((operand, place) => lineOf(graph.edge(String(operand), String(index), String(place)) as Line)),
    ),
  };
}

interface Line {
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

function lineOf({ points }: Line): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join(' ');
}

/** What stands in a node: its number and op, its name if it has one, its type and level, and what stores it. */
export function nodeLines({ index, text, label, type, level, outputs }: GraphNode): readonly string[] {
  const name = label === undefined ? '' : ` "${label}"`;
  return [
    `${index}: ${text}${name}`,
    level === 'call' ? `${type}, one a call` : `${type} of each ${level}`,
    ...(outputs.length === 0 ? [] : [`output ${outputs.join(', ')}`]),
  ];
}

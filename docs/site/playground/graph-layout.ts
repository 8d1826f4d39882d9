import { Graph, layout } from '@dagrejs/dagre';
import type { GraphNode, GraphView } from './kernel/graph-view.ts';

/** A node with its place, in pixels: its middle and its size. */
export interface PlacedNode extends GraphNode {
  readonly lines: readonly string[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A drawing of a graph, from the inputs at the top to the outputs at the bottom. */
export interface PlacedGraph {
  /** The left and upper end. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  /** For each operand that is drawn the path of its line, as SVG has it. */
  readonly lines: readonly string[];
}

/** A letter of the font that the drawing is set in, in pixels. */
const LETTER = 7;
const LINE = 17;

/**
 * Places the nodes of a graph in layers. Constants are written into the nodes that use them: lines from one constant to all
 * over the graph hide the rest.
 */
export function placeGraph({ nodes }: GraphView): PlacedGraph {
  const drawn = nodes.filter(({ constant, outputs }) => constant === undefined || outputs.length > 0);
  const isDrawn = new Set(drawn.map(({ index }) => index));
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ ranksep: 28, nodesep: 14 });
  const operands = drawn.flatMap((node) =>
    node.operands.flatMap((operand, place) => (isDrawn.has(operand) ? [{ operand, index: node.index, place }] : [])),
  );
  const lines = new Map(drawn.map((node) => [node.index, nodeLines(node, nodes)]));
  for (const { index } of drawn) {
    const own = lines.get(index) ?? [];
    const longest = Math.max(...own.map((line) => line.length));
    graph.setNode(String(index), { width: LETTER * longest + 18, height: LINE * own.length + 10 });
  }
  for (const { operand, index, place } of operands) {
    graph.setEdge(String(operand), String(index), {}, String(place));
  }
  layout(graph);
  const placed = drawn.map((node): PlacedNode => {
    const { x, y, width, height } = graph.node(String(node.index)) as Rectangle;
    return { ...node, lines: lines.get(node.index) ?? [], x, y, width, height };
  });
  const paths = operands.map(({ operand, index, place }) => {
    return (graph.edge(String(operand), String(index), String(place)) as { readonly points: readonly Point[] }).points;
  });
  return { ...boundsOf(placed, paths.flat()), nodes: placed, lines: paths.map(lineOf) };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Rectangle extends Point {
  readonly width: number;
  readonly height: number;
}

/** Space around the drawing, in pixels. */
const MARGIN = 8;

/** The bounding box of all nodes and all lines; lines may leave the box of the nodes. */
function boundsOf(nodes: readonly PlacedNode[], points: readonly Point[]): Pick<PlacedGraph, keyof Rectangle> {
  const xs = [...points.map(({ x }) => x), ...nodes.flatMap(({ x, width }) => [x - width / 2, x + width / 2])];
  const ys = [...points.map(({ y }) => y), ...nodes.flatMap(({ y, height }) => [y - height / 2, y + height / 2])];
  const [x, y] = [Math.min(...xs) - MARGIN, Math.min(...ys) - MARGIN];
  return { x, y, width: Math.max(...xs) + MARGIN - x, height: Math.max(...ys) + MARGIN - y };
}

function lineOf(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join(' ');
}

/** The text of a node: its number, op, constants and name, its type and level, and the outputs that store it. */
function nodeLines(
  { index, text, operands, label, type, level, outputs }: GraphNode,
  nodes: readonly GraphNode[],
): readonly string[] {
  const constants = operands.flatMap((operand) => nodes[operand]?.constant ?? []);
  const name = label === undefined ? '' : ` "${label}"`;
  return [
    `${index}: ${[text, constants.join(', ')].join(' ').trim()}${name}`,
    level === 'call' ? `${type}, one a call` : `${type} of each ${level}`,
    ...(outputs.length === 0 ? [] : [`output ${outputs.join(', ')}`]),
  ];
}

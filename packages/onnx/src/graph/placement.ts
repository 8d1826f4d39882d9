import { operatorOf } from '../run/execute.ts';
import type { Graph } from './graph.ts';
import { graphsOf } from './graph.ts';

/**
 * The values of a graph whose numbers have to be on the host: those that an operator needs there, such as shapes and
 * conditions, and those that they are computed from.
 */
export function neededOnHost(graph: Graph, needed: Set<string> = new Set()): ReadonlySet<string> {
  for (const node of [...graph.nodes].reverse()) {
    const operator = operatorOf(node);
    for (const inner of graphsOf(node)) neededOnHost(inner, needed);
    const isWanted = operator?.host !== undefined && node.outputs.some((name) => needed.has(name));
    node.inputs.forEach((name, i) => {
      const all = isWanted || (operator?.host !== undefined && operator.run === undefined);
      if (name !== '' && (all || operator?.needs?.includes(i) === true)) needed.add(name);
    });
  }
  return needed;
}

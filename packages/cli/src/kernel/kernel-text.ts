import { type Kernel, type KernelInput, type KernelOutput, operandsOf } from '@concord/backend-core/kernel';
import type { Colors } from '../output/colors.ts';
import { plural } from '../output/format.ts';
import { plainTable } from '../output/table.ts';
import { kernelFacts, nodeText } from './kernel-facts.ts';
import type { LoadedKernel } from './load-kernels.ts';

/** A kernel for people: its declarations, what it folds, and each node of its graph. */
export function kernelText({ export: own, kernel }: LoadedKernel, colors: Colors): string {
  const { name, inputs, params, outputs, nodes } = kernel;
  const { folds, stages } = kernelFacts(kernel);
  const lines = [
    `${colors.bold(name)}${own === null || own === name ? '' : `  (export ${own})`}`,
    ...(inputs.length === 0 ? ['inputs   none'] : [`inputs   ${inputs.map(inputText).join(', ')}`]),
    ...(params.length === 0 ? [] : [`params   ${params.map((each) => `${each.name}: ${each.type}`).join(', ')}`]),
    `outputs  ${outputs.map(outputText).join(', ')}`,
    `folds    ${folds === 0 ? foldsNothing(kernel) : `${plural(folds, 'fold')} in ${plural(stages, 'stage')}; a call says which axes: folded`}`,
  ];
  const rows = nodes.map((node, index) => [
    `${index}`,
    nodeText(node),
    node.type,
    node.level,
    operandsOf(node).join(' '),
    kernel.labels[index] ?? '',
  ]);
  const table = plainTable(['node', 'op', 'type', 'level', 'operands', 'label'], rows, colors, { right: [0] });
  return `${lines.join('\n')}\n\n${table}`;
}

function foldsNothing({ hasRows }: Kernel): string {
  return hasRows ? 'none, but it has values of rows; a call says which axes: folded' : 'none';
}

function outputText({ name, type, level, node, scatter }: KernelOutput): string {
  const own = `${name}: ${type} of each ${level}, node ${node}`;
  return scatter === undefined ? own : `${own}, ${scatter.mode} at nodes ${scatter.indices.join(', ')}`;
}

function inputText({ name, type, access, rank }: KernelInput): string {
  if (access === 'gather') return `${name}: ${type}, gathered from ${plural(rank, 'axis', 'axes')}`;
  return `${name}: ${type} of each ${access}`;
}

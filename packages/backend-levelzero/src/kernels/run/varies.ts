import { type Kernel, operandsOf } from '@concord/backend-core/kernel';
import { axisOf } from '@concord/kernel';
import { type RunForm, vectorAxis } from './form.ts';

/**
 * For each node, whether the neighbours of a vector may have different values: others are computed once for all of
 * them.
 */
export function varyingNodes(kernel: Kernel, form: RunForm): readonly boolean[] {
  const axis = vectorAxis(form);
  const varies: boolean[] = [];
  for (const node of kernel.nodes) {
    switch (node.kind) {
      case 'input': {
        const { layout } = form.inputs[kernel.inputs.findIndex(({ name }) => name === node.name)] ?? { layout: -1 };
        varies.push(form.layouts[layout] !== 'constant');
        break;
      }
      case 'index':
      case 'rowIndex':
        varies.push(placeOf(form, node.axis, node.kind) === axis);
        break;
      case 'fold':
        varies.push(form.along === 'rows' && (varies[node.operands[0]] as boolean));
        break;
      default:
        varies.push(operandsOf(node).some((operand) => varies[operand]));
    }
  }
  return varies;
}

/** Which axis of the form an `index` or `rowIndex` is of; -1 where it has one point. */
export function placeOf(form: RunForm, axis: number, kind: 'index' | 'rowIndex'): number {
  const wanted = axisOf(axis, kind === 'index' ? form.rank : form.unfolded);
  return form.places.find(([named]) => named === wanted)?.[1] ?? -1;
}

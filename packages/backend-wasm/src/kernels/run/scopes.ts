import { type Kernel, operandsOf } from '@concord/backend-core/kernel';
import { placeOf, type RunForm, vectorAxis } from './form.ts';

/** The loop in which a value is computed: before all loops, for a row, for a line of points, for a block of a line. */
export type Scope = 0 | 1 | 2 | 3;

/** Of one node. */
export interface NodePlace {
  readonly scope: Scope;
  /** True if the neighbours of a vector may have different values. */
  readonly varies: boolean;
}

/** The scope in which the index along an axis changes. */
export function scopeOfAxis(form: RunForm, axis: number): Scope {
  const last = form.rowRank + form.foldedRank - 1;
  if (form.kind === 'rows' && axis < form.rowRank) return 1;
  return axis === last ? 3 : 2;
}

/** The scopes in which the nodes of a kernel are computed: as far outside as their operands allow. */
export function placesOfNodes(kernel: Kernel, form: RunForm): readonly NodePlace[] {
  const vectors = vectorAxis(form);
  const places: NodePlace[] = [];
  const ofAxes = (axes: readonly number[]): NodePlace => ({
    scope: Math.max(0, ...axes.map((axis) => scopeOfAxis(form, axis))) as Scope,
    varies: axes.includes(vectors),
  });
  for (const node of kernel.nodes) {
    switch (node.kind) {
      case 'input': {
        const operand = form.inputs[kernel.inputs.findIndex(({ name }) => name === node.name)];
        places.push(ofAxes((operand?.moves ?? []).flatMap((moves, axis) => (moves ? [axis] : []))));
        break;
      }
      case 'index':
      case 'rowIndex': {
        const axis = placeOf(form, node.axis, node.kind);
        places.push(ofAxes(axis < 0 ? [] : [axis]));
        break;
      }
      case 'fold':
        places.push({ scope: 1, varies: form.along === 'rows' });
        break;
      default: {
        const operands = operandsOf(node).map((operand) => places[operand] as NodePlace);
        places.push({
          scope: Math.max(0, ...operands.map(({ scope }) => scope)) as Scope,
          varies: operands.some(({ varies }) => varies),
        });
      }
    }
  }
  return places;
}

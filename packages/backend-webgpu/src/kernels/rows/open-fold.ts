import type { FoldNode, Kernel, KernelNode, ValueType } from '@concord/backend-core/kernel';
import { foldAt, type Folding, foldingOf, type MeanFactors } from '@concord/kernel';
import type { WgslArithmetic } from '../arithmetic/wgsl-arithmetic.ts';
import { type WgslValue, widened } from '../arithmetic/wgsl-value.ts';
import type { State } from './team.ts';

/** The factor and the divisor of a mean. */
const MEAN: MeanFactors<WgslValue> = {
  scale: { text: 'u.scale', type: 'f32', width: 1 },
  divisor: { text: 'u.divisor', type: 'f32', width: 1 },
};

/** Types of the values that a fold of a graph keeps. */
export function stateTypes(graph: Kernel, fold: number): readonly ValueType[] {
  const { op, operands } = foldAt(graph, fold);
  return foldingOf(op, (graph.nodes[operands[0]] as KernelNode).type).state;
}

/** A fold of a graph in generated code. */
export class OpenFold {
  /** Index of the node in its graph. */
  readonly index: number;
  readonly node: FoldNode;
  readonly #folding: Folding;

  constructor(index: number, node: FoldNode, operandType: ValueType) {
    this.index = index;
    this.node = node;
    this.#folding = foldingOf(node.op, operandType);
  }

  /** The state that changes nothing. */
  nothing(math: WgslArithmetic): State {
    return this.#folding.state.map((type, part) => math.constant(type, this.#folding.identity[part] as number));
  }

  /** Variables that begin with it. */
  variables(math: WgslArithmetic, width: 1 | 4): State {
    return this.nothing(math).map((part) => {
      const name = math.block.fresh();
      math.block.add(`var ${name} = ${widened(part, width)};`);
      return { text: name, type: part.type, width };
    });
  }

  /** @param place - of the element in its row; only some folds ask for it */
  lift(math: WgslArithmetic, element: WgslValue, place: () => WgslValue): State {
    const isPlaced = this.node.op === 'argmax' || this.node.op === 'argmin';
    return this.#folding.lift(math, element, isPlaced ? place() : element, MEAN);
  }

  readonly join = (math: WgslArithmetic, a: State, b: State): State => this.#folding.combine(math, a, b);

  finish(math: WgslArithmetic, state: State): WgslValue {
    return this.#folding.finish(math, state, MEAN);
  }
}

import type { Kernel, Level } from '@concord/backend-core/kernel';
import { axisOf, NodeLowering } from '@concord/kernel';
import { WgslArithmetic } from '../arithmetic/wgsl-arithmetic.ts';
import type { WgslBlock } from '../arithmetic/wgsl-block.ts';
import type { WgslValue } from '../arithmetic/wgsl-value.ts';
import { decode, type RawValue } from './encode.ts';
import { gatherCode } from './gather-code.ts';
import { extentName, parameterName, type RunSpec } from './run-spec.ts';

/** The point (or row) that generated code computes. */
export interface PointSource {
  /** Raw elements of an input at this point. */
  load(input: number): RawValue;
  /** The coordinate along an axis of the coalesced domain. */
  coordinate(place: number): WgslValue;
  /** The result of a fold. */
  fold(node: number): WgslValue;
}

/** The values that code has computed at a point, at a row or for the call, and the block where they are known. */
export class GraphScope {
  readonly block: WgslBlock;
  readonly math: WgslArithmetic;
  readonly #spec: RunSpec;
  readonly #source: PointSource;
  readonly #outer: GraphScope | undefined;
  readonly #lowering: NodeLowering<WgslValue>;
  readonly #raws: Map<number, RawValue> = new Map();

  constructor(spec: RunSpec, block: WgslBlock, source: PointSource, outer?: GraphScope) {
    this.block = block;
    this.math = new WgslArithmetic(block);
    this.#spec = spec;
    this.#source = source;
    this.#outer = outer;
    this.#lowering = new NodeLowering(
      this.math,
      spec.graph,
      this.#leaves(),
      outer === undefined ? undefined : outer.#lowering,
    );
  }

  /** The value of a node. */
  value(node: number): WgslValue {
    return this.#lowering.value(node);
  }

  /** The value of a fold's operand, as the fold may take it. */
  folded(node: Parameters<NodeLowering<WgslValue>['folded']>[0]): WgslValue {
    return this.#lowering.folded(node);
  }

  /** The stored value of an input at this point. */
  raw(input: number): RawValue {
    const known = this.#knownRaw(input);
    if (known !== undefined) return known;
    const raw = this.#source.load(input);
    this.#raws.set(input, raw);
    return raw;
  }

  /** Loads what the graph reads at a point, so that all loads of a lane are on their way before it computes. */
  preload(): void {
    for (const [input, { access }] of this.#spec.graph.inputs.entries()) if (access === 'element') this.raw(input);
  }

  /** Computes the values of some levels for which `isReady`, before blocks inside use them. */
  hoist(levels: readonly Level[], isReady: (node: number) => boolean): void {
    for (const [index, { level, kind }] of this.#spec.graph.nodes.entries()) {
      if (kind !== 'fold' && levels.includes(level) && isReady(index)) this.value(index);
    }
  }

  #knownRaw(input: number): RawValue | undefined {
    const known = this.#raws.get(input);
    return known === undefined && this.#outer !== undefined ? this.#outer.#knownRaw(input) : known;
  }

  #leaves(): ConstructorParameters<typeof NodeLowering<WgslValue>>[2] {
    const { graph, operands, places, rank, unfolded } = this.#spec;
    const input = (name: string): number => indexOf(graph.inputs, name);
    return {
      parameter: ({ name, type }) => ({ text: `u.${parameterName(indexOf(graph.params, name))}`, type, width: 1 }),
      input: ({ name }) => {
        const index = input(name);
        const { dtype, type } = operands[index] as RunSpec['operands'][number];
        return decode(this.block, dtype, type, this.raw(index));
      },
      axis: (node) => {
        if (node.kind === 'extent') return { text: `u.${extentName(axisOf(node.axis, rank))}`, type: 'u32', width: 1 };
        const count = node.kind === 'index' ? rank : unfolded;
        const place = places[axisOf(node.axis, count)];
        return place === undefined ? { text: '0u', type: 'u32', width: 1 } : this.#source.coordinate(place);
      },
      gather: ({ name }, outside, indices) => gatherCode(this.block, this.#spec, input(name), [outside, ...indices]),
      fold: (_, index) => this.#source.fold(index),
    };
  }
}

function indexOf(declared: Kernel['inputs'] | Kernel['params'], name: string): number {
  return declared.findIndex((each) => each.name === name);
}

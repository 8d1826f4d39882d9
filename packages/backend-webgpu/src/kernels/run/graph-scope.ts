import type { DType } from '@concord/backend-core';
import type { KernelNode, KernelOutput, Level } from '@concord/backend-core/kernel';
import { axisOf, type Leaves, NodeLowering, numberOf, placeOf, vectorAxis } from '@concord/kernel';
import { WgslArithmetic } from '../arithmetic/wgsl-arithmetic.ts';
import { type WgslBlock, type WgslValue, wgslType, widened } from '../arithmetic/wgsl-block.ts';
import {
  components,
  decode,
  encode,
  loadAt,
  loadRaw,
  type PlacesByIndex,
  type RawValue,
  type StoredValue,
} from './operand-code.ts';
import {
  type BindingSpec,
  extentName,
  gatherSizeName,
  offsetName,
  type OperandSpec,
  parameterName,
  type RunSpec,
  startName,
  strideName,
} from './run-spec.ts';

/** The point (or row) that generated code computes. */
export interface PointSource {
  /** Raw elements of an input at this point. */
  load(input: number): RawValue;
  /** The coordinate along an axis of the coalesced domain. */
  coordinate(place: number): WgslValue;
  /** The result of a fold, or that of a scan at this point. */
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
    const around = outer === undefined ? undefined : outer.#lowering;
    this.#lowering = new NodeLowering(this.math, spec.kernel, this.#leaves(), around);
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
    for (const [input, { access }] of this.#spec.kernel.inputs.entries()) if (access === 'element') this.raw(input);
  }

  /** Computes the values of some levels, before blocks inside use them; as {@link NodeLowering.hoist}. */
  hoist(levels: readonly Level[], depth?: number): void {
    this.#lowering.hoist(levels, depth);
  }

  #knownRaw(input: number): RawValue | undefined {
    const known = this.#raws.get(input);
    return known === undefined && this.#outer !== undefined ? this.#outer.#knownRaw(input) : known;
  }

  #leaves(): Leaves<WgslValue> {
    const { kernel, operands, rank } = this.#spec;
    const u32 = (text: string): WgslValue => ({ text, type: 'u32', width: 1 });
    return {
      parameter: (node) => ({ ...u32(`u.${parameterName(numberOf(kernel.params, node))}`), type: node.type }),
      input: (node) => {
        const index = numberOf(kernel.inputs, node);
        const { dtype, type } = operands[index] as OperandSpec;
        return decode(this.block, dtype, type, this.raw(index));
      },
      axis: (node) => {
        if (node.kind === 'extent') return u32(`u.${extentName(axisOf(node.axis, rank))}`);
        const place = placeOf(this.#spec, node);
        return place < 0 ? u32('0u') : this.#source.coordinate(place);
      },
      gather: (node, _, outside, indices) => {
        return gatherCode(this.block, this.#spec, numberOf(kernel.inputs, node), [outside, ...indices]);
      },
      fold: (_, index) => this.#source.fold(index),
    };
  }
}

const nothing = (): never => {
  throw new Error('a value of the call belongs to no point');
};

/** The point of the call's own values: nothing that belongs to a point. */
export const NOWHERE: PointSource = { load: nothing, coordinate: nothing, fold: nothing };

/** The index along an axis, from a launch's own coordinate. */
export function coordinateAt(block: WgslBlock, spec: RunSpec, place: number, coordinate: string): WgslValue {
  const start = `u.${startName(place)}`;
  if (place !== vectorAxis(spec) || spec.width === 1) {
    return { text: block.define(`${coordinate} + ${start}`), type: 'u32', width: 1 };
  }
  const text = `vec4u(${coordinate} * 4u + ${start}) + vec4u(0u, 1u, 2u, 3u)`;
  return { text: block.define(text), type: 'u32', width: 4 };
}

/** A point of a map at some coordinates, along the vector axis in vectors. */
export function pointSource(spec: RunSpec, block: WgslBlock, coordinates: readonly string[]): PointSource {
  return {
    ...NOWHERE,
    load: (input) => loadAt(block, spec, input, coordinates),
    coordinate: (place) => coordinateAt(block, spec, place, coordinates[place] as string),
  };
}

/**
 * The element of a gather input at an index per axis, or `otherwise` where one is outside. What lies outside is read at
 * the first element, so that no address leaves the input.
 *
 * @param operands - otherwise, then the indices; a negative i32 is a u32 beyond every size
 */
function gatherCode(block: WgslBlock, spec: RunSpec, input: number, operands: readonly WgslValue[]): WgslValue {
  const operand = spec.operands[input] as OperandSpec;
  const binding = spec.bindings[operand.binding] as BindingSpec;
  const otherwise = operands[0] as WgslValue;
  const indices = operands.slice(1).map((index) => asWords(block, index));
  const isVector = operand.access === 'vector' && indices.slice(0, -1).every(({ width }) => width === 1);
  // Of four neighbours that begin at a multiple of four all are inside or none: the first one speaks for them.
  const own = isVector
    ? indices.map((index) => (index.width === 1 ? index : { ...index, text: `${index.text}.x`, width: 1 as const }))
    : indices;
  const { places, inside } = placesByIndex(block, input, own);
  const raw = isVector
    ? loadRaw(block, operand, binding, `${places.text} >> 2u`, 4)
    : loadElements(block, operand, binding, places);
  const value = decode(block, operand.dtype, operand.type, raw);
  const result = widest(otherwise, value);
  const condition = widened(inside, result);
  return {
    text: block.define(`select(${widened(otherwise, result)}, ${widened(value, result)}, ${condition})`),
    type: value.type,
    width: result,
  };
}

/** The places of an operand's elements at some indices, words: the first one's where one is outside. */
function placesByIndex(block: WgslBlock, operand: number, indices: readonly WgslValue[]): PlacesByIndex {
  const width = indices.some((index) => index.width === 4) ? 4 : 1;
  const words = wgslType('u32', width);
  const texts = indices.map((index) => widened(index, width));
  const inside = block.define(
    texts.map((text, axis) => `(${text} < ${words}(u.${gatherSizeName(operand, axis)}))`).join(' & '),
  );
  const address = texts.map((text, axis) => `${text} * u.${strideName(operand, axis)}`).join(' + ');
  const text = block.define(`u.${offsetName(operand)} + select(${words}(0u), ${address}, ${inside})`);
  return { places: { text, type: 'u32', width }, inside: { text: inside, type: 'bool', width } };
}

function asWords(block: WgslBlock, index: WgslValue): WgslValue {
  if (index.type === 'u32') return index;
  return {
    text: block.define(`bitcast<${wgslType('u32', index.width)}>(${index.text})`),
    type: 'u32',
    width: index.width,
  };
}

/** Elements at their own places. */
function loadElements(block: WgslBlock, operand: OperandSpec, binding: BindingSpec, places: RawValue): RawValue {
  const one = { ...operand, access: 'strided' as const };
  const parts = components(places).map((at) => loadRaw(block, one, binding, at, 1));
  if (places.width === 1) return parts[0] as RawValue;
  return { text: block.define(`vec4u(${parts.map(({ text }) => text).join(', ')})`), type: 'u32', width: 4 };
}

function widest(a: WgslValue, b: WgslValue): 1 | 4 {
  return a.width === 4 || b.width === 4 ? 4 : 1;
}

/**
 * The stored value of an output: the bits as they were loaded, where nothing but `select` and `spread` lies between an input
 * of the output's dtype and it.
 *
 * @param varying - a u32 of the lane or of its point
 */
export function storedBits(spec: RunSpec, output: number, scope: GraphScope, varying: string): StoredValue {
  const { kernel, operands } = spec;
  const operand = kernel.inputs.length + output;
  const { dtype } = operands[operand] as OperandSpec;
  const { node, type, scatter } = kernel.outputs[output] as KernelOutput;
  // A sum is rounded with what is there already.
  const raw = bitsOf(spec, node, scatter?.mode === 'add' ? type : dtype, scope, varying);
  if (scatter === undefined) return raw;
  const indices = scatter.indices.map((index) => asWords(scope.block, scope.value(index)));
  return { ...raw, at: placesByIndex(scope.block, operand, indices) };
}

function bitsOf(spec: RunSpec, node: number, dtype: DType, scope: GraphScope, varying: string): RawValue {
  const data = spec.kernel.nodes[node] as KernelNode;
  if (!isCopy(spec, node, dtype)) return encode(scope.block, dtype, scope.value(node), varying);
  if (data.kind === 'input') return scope.raw(numberOf(spec.kernel.inputs, data));
  if (data.kind === 'spread') return bitsOf(spec, data.operands[0], dtype, scope, varying);
  const [condition, a, b] = (data as { readonly operands: readonly number[] }).operands as [number, number, number];
  const [x, y] = [a, b].map((each) => bitsOf(spec, each, dtype, scope, varying)) as [RawValue, RawValue];
  return scope.math.select('u32', scope.value(condition), x, y) as RawValue;
}

/** Returns whether elements of an input of the dtype come through to a node unchanged. */
function isCopy(spec: RunSpec, node: number, dtype: DType): boolean {
  const data = spec.kernel.nodes[node] as KernelNode;
  if (data.kind === 'input') return spec.operands[numberOf(spec.kernel.inputs, data)]?.dtype === dtype;
  if (data.kind === 'spread') return isCopy(spec, data.operands[0], dtype);
  if (data.kind !== 'arithmetic' || data.op !== 'select') return false;
  return data.operands.slice(1).some((operand) => isCopy(spec, operand, dtype));
}

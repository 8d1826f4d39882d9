import type { DType } from '@concord/backend-core';
import type { ResolvedRun, RunLayout } from '@concord/backend-core/implement';
import type { FoldOp, KernelNode, NodeOp, ScanNode } from '@concord/backend-core/kernel';
import { bytesOf, decodeElement, encodeElement } from '../../src/run/placement.ts';
import { applyNode, wrapped } from './functions.ts';

type Call = ResolvedRun<ArrayBuffer>;

/** A fold under way. */
export interface FoldState {
  value: number;
  /** Place in the row of what `argmax` and `argmin` found. */
  place: number;
  count: number;
}

/** The parts of {@link naiveRun}, so that a test can plant a bug into one of them. */
export interface Parts {
  /** The layout of an operand that a kernel gets. */
  layout(layout: RunLayout, role: 'input' | 'output', call: Call): RunLayout;
  params(call: Call): readonly number[];
  /** Returns whether a row is computed. */
  computesRow(row: number, call: Call): boolean;
  /** The number of elements of a row that are folded. */
  foldLength(rowLength: number, node: number, call: Call): number;
  /** Which row an input of rows, or of elements in a fold, is read at. */
  rowOf(row: number, node: KernelNode, call: Call): number;
  apply(op: NodeOp, type: string, operandType: string, operands: readonly number[]): number;
  foldStart(op: FoldOp, type: string): number;
  foldStep(op: FoldOp, type: string, state: FoldState, x: number, place: number): void;
  foldEnd(op: FoldOp, type: string, state: FoldState, rowLength: number): number;
  /** The element that a scan comes to in its step. */
  scanPlace(step: number, rowLength: number, node: ScanNode): number;
  scanStep(op: FoldOp, type: string, state: FoldState, x: number, step: number): void;
  /** The value of a scan, from the folds of what comes before an element, and of that and the element x. */
  scanValue(node: ScanNode, before: number, after: number, x: number): number;
  /** An index of a gather input, or undefined where it is outside. */
  gatherIndex(index: number, size: number, axis: number, layout: RunLayout): number | undefined;
  index(place: number, axis: number, call: Call): number;
  decode(dtype: DType, bits: number): number;
  encode(dtype: DType, value: number): number;
  /** Puts an element into its place; `view` begins where the output does. */
  write(view: DataView, layout: RunLayout, distance: number, bits: number): void;
  /** The values that are computed anew after the first store of a point. */
  readonly recomputed: 'nothing' | 'elements' | 'folds';
  /** True if what is only copied keeps its bits. */
  readonly keepsBits: boolean;
}

const FOLD_STARTS: Readonly<Record<FoldOp, number>> = {
  sum: 0,
  product: 1,
  max: -Infinity,
  min: Infinity,
  mean: 0,
  any: 0,
  all: 1,
  count: 0,
  argmax: -Infinity,
  argmin: Infinity,
};
const LIMITS: Readonly<Record<string, readonly [number, number]>> = {
  f32: [-Infinity, Infinity],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
};

/** The rule of the contract. */
export const RIGHT: Parts = {
  layout: (layout) => layout,
  params: ({ params }) => params,
  computesRow: () => true,
  foldLength: (rowLength) => rowLength,
  rowOf: (row) => row,
  apply: applyNode,
  foldStart: (op, type) => {
    const [least, greatest] = LIMITS[type] ?? [0, 1];
    return op === 'max' ? least : op === 'min' ? greatest : FOLD_STARTS[op];
  },
  foldStep: (op, type, state, x, place) => {
    switch (op) {
      case 'sum':
      case 'mean':
        state.value = type === 'f32' ? state.value + x : wrapped(type, state.value + x);
        break;
      case 'product':
        state.value = type === 'f32' ? state.value * x : wrapped(type, Math.imul(state.value, x));
        break;
      case 'max':
        state.value = Math.max(state.value, x);
        break;
      case 'min':
        state.value = Math.min(state.value, x);
        break;
      case 'any':
        state.value |= x;
        break;
      case 'all':
        state.value &= x;
        break;
      case 'count':
        state.value += x;
        break;
      case 'argmax':
      case 'argmin': {
        const isBetter = op === 'argmax' ? x > state.value : x < state.value;
        const isFirstNan = Number.isNaN(x) && !Number.isNaN(state.value);
        if (isBetter || isFirstNan || state.count === 0) [state.value, state.place] = [x, place];
      }
    }
    state.count++;
  },
  foldEnd: (op, type, { value, place }, rowLength) => {
    if (op.startsWith('arg')) return place;
    if (op === 'mean') return Math.fround(value / rowLength);
    return type === 'f32' ? Math.fround(value) : value;
  },
  scanPlace: (step, rowLength, { reverse }) => (reverse ? rowLength - 1 - step : step),
  scanStep: (op, type, state, x, step) => RIGHT.foldStep(op, type, state, x, step),
  scanValue: ({ exclusive }, before, after) => (exclusive ? before : after),
  gatherIndex: (index, size) => (index >= 0 && index < size ? index : undefined),
  index: (place) => place,
  decode: decodeElement,
  encode: encodeElement,
  write: (view, { dtype }, distance, bits) => {
    const size = bytesOf(dtype);
    const at = distance * size;
    if (size === 4) view.setUint32(at, bits, true);
    else if (size === 2) view.setUint16(at, bits, true);
    else view.setUint8(at, bits);
  },
  recomputed: 'nothing',
  keepsBits: true,
};

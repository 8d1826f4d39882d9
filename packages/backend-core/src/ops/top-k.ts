import { checkBoolean, checkDType, checkSize, packedExtent } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { invalid } from '../errors/invalid.ts';
import type { CheckedCall, OpDefinition } from './op-definition.ts';

/** Shape of the selection of the k largest (or smallest) of each row, sorted. */
export interface TopKShape {
  readonly rows: number;
  /** Elements of a row, at most 2^32 - 1. */
  readonly columns: number;
  /** Results of a row, at most `columns` and `capabilities.limits.maxTopK`. */
  readonly k: number;
  /** Default true. False: the smallest ones. */
  readonly largest?: boolean;
  readonly dtype?: 'f32';
}

/**
 * Arguments of `topK`: input is `[rows, columns]`, values (float32) and indices (u32, places in the row) `[rows, k]`, all
 * packed. Sorted, the best first; of equals the lower index is first. NaN ranks above Infinity.
 */
export interface TopKCall extends TopKShape {
  readonly input: DevicePtr;
  readonly values: DevicePtr;
  readonly indices: DevicePtr;
}

/** A topK with its defaults filled in. */
export interface CheckedTopK extends CheckedCall {
  readonly rows: number;
  readonly columns: number;
  readonly k: number;
  readonly largest: boolean;
}

/** Indices are u32. */
const MAX_COLUMNS = 2 ** 32 - 1;

/** `topK`. */
export const topK: OpDefinition<TopKShape, CheckedTopK> = {
  kernel: 'topK',
  operands: ['input', 'values', 'indices'],
  output: 'values',
  fields: { rows: 'size', columns: 'size', k: 'size', largest: 'boolean', dtype: 'word' },
  read: ({ rows, columns, k, largest, dtype, input, values, indices }) => {
    return [rows, columns, k, largest, dtype, input, values, indices];
  },
  dtypes: ['f32'],
  check: (shape) => {
    const { rows, columns, k } = shape;
    checkSize('rows', rows);
    checkSize('columns', columns);
    checkSize('k', k);
    const largest = checkBoolean('largest', shape.largest, true);
    const dtype = checkDType(shape.dtype);
    if (columns > MAX_COLUMNS) throw invalid(`columns must be below 2^32, the range of indices, got ${columns}`);
    if (k > columns) throw invalid(`k must be at most columns, ${columns}, got ${k}`);
    if (rows === 0 || k === 0) return null;
    const operands = [
      { name: 'input', dtype, elements: packedExtent('input', [rows, columns]) },
      { name: 'values', dtype, elements: packedExtent('values', [rows, k]), output: true },
      { name: 'indices', dtype: 'u32' as const, elements: packedExtent('indices', [rows, k]), output: true },
    ];
    return { rows, columns, k, largest, dtype, operands };
  },
  cost: ({ rows, columns, k }) => ({ operations: rows * columns, bytes: 4 * rows * (columns + 2 * k) }),
  sample: { shape: { rows: 3, columns: 7, k: 2 }, nothingToDo: [{ rows: 0 }, { k: 0 }] },
};

import type { DType } from '@concord/backend-core';
import { SPLIT_PARAMETERS } from './splits.ts';

/** Storage of a product with a vector. */
export interface MatvecFormats {
  readonly matrix: DType;
  readonly vector: DType;
  readonly output: DType;
}

/** Parameters of the kernels for a matrix times a vector, y = M x, with `rows` rows and k columns. */
export const matvecParameters = ({ matrix, vector, output }: MatvecFormats) =>
  ({
    matrix: `${matrix}*`,
    vector: `${vector}*`,
    c: `${output}*`,
    rows: 'u64',
    matrix_ld: 'u64',
    matrix_stride: 'u64',
    vector_step: 'u64',
    vector_stride: 'u64',
    c_step: 'u64',
    ...SPLIT_PARAMETERS,
    alpha: 'f32',
    beta: 'f32',
  }) as const;

export const formatsName = ({ matrix, vector, output }: MatvecFormats): string => `${matrix}x${vector}-${output}`;

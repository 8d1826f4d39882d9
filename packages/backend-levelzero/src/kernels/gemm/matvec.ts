import type { FloatDType } from '@concord/backend-core';
import type { ParameterType } from '../kernel.ts';
import { SPLIT_PARAMETERS } from './splits.ts';

/** Storage of a product with a vector. */
export interface MatvecFormats {
  readonly matrix: FloatDType;
  readonly vector: FloatDType;
  readonly output: FloatDType;
}

/** The names of {@link matvecParameters}. */
export type MatvecParameter =
  | ('matrix' | 'vector' | 'c' | 'rows' | 'matrix_ld' | 'matrix_stride' | 'vector_step' | 'vector_stride' | 'c_step')
  | (keyof typeof SPLIT_PARAMETERS | 'alpha' | 'beta');

/** Parameters of the kernels for a matrix times a vector, y = M x, with `rows` rows and k columns. */
export function matvecParameters(formats: MatvecFormats): Readonly<Record<MatvecParameter, ParameterType>> {
  return {
    matrix: `${formats.matrix}*`,
    vector: `${formats.vector}*`,
    c: `${formats.output}*`,
    rows: 'u64',
    matrix_ld: 'u64',
    matrix_stride: 'u64',
    vector_step: 'u64',
    vector_stride: 'u64',
    c_step: 'u64',
    ...SPLIT_PARAMETERS,
    alpha: 'f32',
    beta: 'f32',
  };
}

/** For names of kernels. */
export const formatsName = ({ matrix, vector, output }: MatvecFormats): string => `${matrix}x${vector}-${output}`;

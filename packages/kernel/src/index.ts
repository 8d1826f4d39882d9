export type { Arithmetic, IntegerType } from './arithmetic/arithmetic.ts';

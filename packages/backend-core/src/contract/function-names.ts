/**
 * The element-wise functions of one argument. `gelu` is the exact one, `x * Phi(x) = x/2 * erfc(-x / sqrt 2)`; `silu`
 * is `x * sigmoid(x)`. NaN in, NaN out, for relu too; other special values as C99 Annex F.
 */
export const UNARY_OPS = ['relu', 'sigmoid', 'tanh', 'exp', 'log', 'sqrt', 'abs', 'neg', 'gelu', 'silu'] as const;

/** One of {@link UNARY_OPS}. */
export type UnaryOp = (typeof UNARY_OPS)[number];

/**
 * The element-wise functions of two arguments. `max` and `min` give NaN when either is NaN; `pow` follows C99 Annex F
 * (`pow(1, NaN) = 1`).
 */
export const BINARY_OPS = ['add', 'sub', 'mul', 'div', 'max', 'min', 'pow'] as const;

/** One of {@link BINARY_OPS}. */
export type BinaryOp = (typeof BINARY_OPS)[number];

/** The reductions. `max` and `min` give NaN when any element is NaN. */
export const REDUCE_OPS = ['sum', 'max', 'min', 'mean'] as const;

/** One of {@link REDUCE_OPS}. */
export type ReduceOp = (typeof REDUCE_OPS)[number];

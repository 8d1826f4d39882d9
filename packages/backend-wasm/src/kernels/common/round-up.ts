/** The smallest multiple of `to` that is not below `value`. */
export const roundUp = (value: number, to: number): number => Math.ceil(value / to) * to;

/**
 * The reciprocal of ln 2, and ln 2 as the sum of two numbers, of which the first has 9 bits: its product with an exponent
 * is exact (Cody and Waite, Software Manual for the Elementary Functions; these two are the parts used there).
 */
export const ln2: string = /* wgsl */ `
const LN2_HI = 0.693359375;
const LN2_LO = -2.12194440e-4;
const LOG2_E = 1.44269504;
`;

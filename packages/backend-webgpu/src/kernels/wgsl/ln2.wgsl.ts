/**
 * ln 2 and its reciprocal. ln 2 also as the sum of two numbers, of which the first has 9 bits: its product with an exponent
 * is exact (Cody and Waite, Software Manual for the Elementary Functions; these two are the parts used there).
 */
export const ln2: string = /* wgsl */ `
const LN2 = 0.693147181;
const LN2_HI = 0.693359375;
const LN2_LO = -2.12194440e-4;
const LOG2_E = 1.44269504;
`;

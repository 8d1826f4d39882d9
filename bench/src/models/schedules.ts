/** To see that everything runs. */
export const QUICK = { rounds: 3, roundMs: 5 } as const;
/** A GPU that had nothing to do runs at a fraction of its clock at first. */
export const WHOLE = { rounds: 7, roundMs: 100, warmMs: 300 } as const;
/** On cores that others use too. */
export const WHOLE_ON_CPU = { rounds: 11, roundMs: 20, pauseMs: 20, takes: 'least' } as const;

import { BackendError } from '@concord/backend-core';
import { inCall, type Mutant, mutantsOf } from './mutant.ts';

type Bugs = Readonly<Record<string, Mutant['wrap']>>;

const refuse = (detail: string): never => {
  throw new BackendError('INVALID_ARGUMENT', detail);
};

const GEMM_BUGS: Bugs = {
  'a short lda refused although m is 0': inCall('gemm', (call, run) => {
    const { m, k, lda = k } = call ?? {};
    if (m === 0 && call.transA === undefined && lda < k) refuse(`lda must be at least ${k}`);
    run(call);
  }),
  'm 0 accepted whatever the rest is': inCall('gemm', (call, run) => {
    if (call?.m !== 0) run(call);
  }),
  'A asked for although k is 0': inCall('gemm', (call, run) => {
    if (call?.k === 0 && call.m > 0 && call.n > 0 && call.a === 0 && call.c !== 0) refuse('unknown handle 0');
    run(call);
  }),
  'A and B not checked when alpha is 0': inCall('gemm', (call, run) => {
    run(call?.alpha === 0 && call.beta !== undefined ? { ...call, a: call.c, b: call.c, k: 0 } : call);
  }),
  'A and B refused when they are one': inCall('gemm', (call, run) => {
    if (call?.a === call?.b && call?.k > 0 && call.a !== 0 && call.n > 0) refuse('b overlaps a');
    run(call);
  }),
};

const BINARY_BUGS: Bugs = {
  'a and b refused when they overlap': inCall('binary', (call, run) => {
    const { a, b, n, output } = call ?? {};
    const isTyped = [a, b, n, output].every((x) => Number.isSafeInteger(x)) && n >= 0;
    const isAway = isTyped && Math.abs(output - a) >= 4 * n && Math.abs(output - b) >= 4 * n;
    if (isAway && a > 0 && b > 0 && a !== b && Math.abs(a - b) < 4 * n) refuse('b overlaps a');
    run(call);
  }),
  'a handle looked up before alignment is checked': inCall('binary', (call, run) => {
    const { a, n, output } = call ?? {};
    if (a === 0 && n > 0 && Number.isSafeInteger(output) && output > 0 && output % 4 !== 0) refuse('unknown handle 0');
    run(call);
  }),
};

/** Bugs of what is checked when. */
export const orderOfChecksMutants: readonly Mutant[] = [
  ...mutantsOf('gemm:', ['gemm'], GEMM_BUGS),
  ...mutantsOf('binary:', ['binary'], BINARY_BUGS),
];

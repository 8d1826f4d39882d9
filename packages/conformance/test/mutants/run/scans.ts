import { RIGHT } from '../../naive/parts.ts';
import type { Mutant } from '../mutant.ts';
import { type Bug, partMutants } from './naive-mutant.ts';

type Step = (typeof RIGHT)['scanStep'];

const step =
  (bug: (...given: Parameters<Step>) => void): Bug =>
  () => ({ scanStep: bug });

const forgetting = (edge: number): Bug =>
  step((op, type, state, x, at) => {
    if (at === edge) state.value = RIGHT.foldStart(op, type);
    RIGHT.scanStep(op, type, state, x, at);
  });

const BUGS: Readonly<Record<string, Bug>> = {
  'exclusive scans count the element': () => ({ scanValue: (_, __, after) => after }),
  'inclusive scans leave the element out': () => ({ scanValue: (_, before) => before }),
  'exclusive scans of f32 are differences': () => ({
    scanValue: (node, before, after, x) =>
      node.exclusive && node.op === 'sum' && node.type === 'f32'
        ? Math.fround(after - x)
        : RIGHT.scanValue(node, before, after, x),
  }),
  'reverse scans go forward': () => ({ scanPlace: (at) => at }),
  'scans go on from row to row': () => {
    const totals = new Map<string, number>();
    return {
      scanStep: (op, type, state, x, at) => {
        if (at === 0) state.value = totals.get(op + type) ?? state.value;
        RIGHT.scanStep(op, type, state, x, at);
        totals.set(op + type, state.value);
      },
    };
  },
  'scans begin anew in a vector': forgetting(4),
  'scans begin anew after 512': forgetting(512),
  'parts of long rows do not know those before': forgetting(32_768),
  'running maxima skip NaN': step((op, type, state, x, at) => {
    if (op !== 'max' || !Number.isNaN(x)) RIGHT.scanStep(op, type, state, x, at);
  }),
  'running minima lose a NaN': step((op, type, state, x, at) => {
    if (op === 'min' && Number.isNaN(state.value)) state.value = x;
    else RIGHT.scanStep(op, type, state, x, at);
  }),
  'running sums of integers in float32': step((op, type, state, x, at) => {
    RIGHT.scanStep(op, type, state, x, at);
    if (op === 'sum' && type !== 'f32') state.value = Math.fround(state.value);
  }),
  'running sums of f32 in float32, one after the other': step((op, type, state, x, at) => {
    RIGHT.scanStep(op, type, state, x, at);
    if (op === 'sum' && type === 'f32') state.value = Math.fround(state.value);
  }),
  'running products of integers saturate': step((op, type, state, x, at) => {
    if (op === 'product' && type === 'i32') state.value = Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, state.value * x));
    else RIGHT.scanStep(op, type, state, x, at);
  }),
  'running maxima of u32 compare signed': step((op, type, state, x, at) => {
    if (op === 'max' && type === 'u32') state.value = (x | 0) > (state.value | 0) ? x : state.value;
    else RIGHT.scanStep(op, type, state, x, at);
  }),
  'running minima begin at 0': () => ({ foldStart: (op, type) => (op === 'min' ? 0 : RIGHT.foldStart(op, type)) }),
};

/** Bugs of scans. */
export const runScanMutants: readonly Mutant[] = partMutants(BUGS, /^run\/scan\//);

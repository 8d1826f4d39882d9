import { type FoldState, RIGHT } from '../../naive/naive-run.ts';
import type { Mutant } from '../mutant.ts';
import { type Bug, partMutants } from './naive-mutant.ts';

type Step = (typeof RIGHT)['foldStep'];

/** A step that is done in another way for one fold, or left out. */
const step =
  (bug: (right: Step, ...given: Parameters<Step>) => void): Bug =>
  () => ({ foldStep: (...given) => bug((...own) => RIGHT.foldStep(...own), ...given) });

/** Leaves out elements of rows of one length: `length` is told before the steps of a fold. */
const losing =
  (rowLength: number, isLost: (place: number) => boolean): Bug =>
  () => {
    let current = 0;
    return {
      foldLength: (length) => (current = length),
      foldStep: (op, type, state, x, place) => {
        if (current !== rowLength || !isLost(place)) RIGHT.foldStep(op, type, state, x, place);
      },
    };
  };

const LENGTHS = [7, 1024, 50_257] as const;
const EDGE = { 7: 4, 1024: 64, 50_257: 32_768 } as const;

/** Elements that are lost in rows of one length alone. */
const ofLength = (length: (typeof LENGTHS)[number]): Readonly<Record<string, Bug>> =>
  Object.fromEntries([
    [`the last of ${length} elements lost`, losing(length, (place) => place === length - 1)],
    [`the first of ${length} elements lost`, losing(length, (place) => place === 0)],
    [`element ${EDGE[length]} of ${length} lost`, losing(length, (place) => place === EDGE[length])],
    [
      `the last of ${length} elements folded twice`,
      (): ReturnType<Bug> => {
        let current = 0;
        return {
          foldLength: (own) => (current = own),
          foldStep: (op, type, state, x, place) => {
            RIGHT.foldStep(op, type, state, x, place);
            if (current === length && place === length - 1) RIGHT.foldStep(op, type, state, x, place);
          },
        };
      },
    ],
  ]);

const isGreater = (op: string, x: number, y: number): boolean => (op === 'argmax' ? x > y : x < y);

const BUGS: Readonly<Record<string, Bug>> = {
  'max loses a NaN that a number follows': step((right, op, type, state, x, place) => {
    if (op === 'max') state.value = x > state.value || Number.isNaN(state.value) ? x : state.value;
    else right(op, type, state, x, place);
  }),
  'min skips NaN': step((right, op, type, state, x, place) => {
    if (op !== 'min' || !Number.isNaN(x)) right(op, type, state, x, place);
  }),
  'argmax gives the last of equals': step((right, op, type, state, x, place) => {
    if (op === 'argmax' && x === state.value) state.place = place;
    right(op, type, state, x, place);
  }),
  'argmin gives the last of equals': step((right, op, type, state, x, place) => {
    if (op === 'argmin' && x === state.value) state.place = place;
    right(op, type, state, x, place);
  }),
  'argmax skips NaN': step((right, op, type, state, x, place) => {
    if (op !== 'argmax' || !Number.isNaN(x)) right(op, type, state, x, place);
  }),
  'argmin gives the last NaN': step((right, op, type, state: FoldState, x, place) => {
    if (op === 'argmin' && Number.isNaN(x)) [state.value, state.place] = [x, place];
    right(op, type, state, x, place);
  }),
  'argmax of unsigned numbers compares signed': step((right, op, type, state, x, place) => {
    if (op.startsWith('arg') && type === 'u32' && state.count > 0) {
      if (isGreater(op, x | 0, state.value | 0)) [state.value, state.place] = [x, place];
      state.count++;
    } else right(op, type, state, x, place);
  }),
  'max of unsigned numbers compares signed': step((right, op, type, state, x, place) => {
    if (op === 'max' && type === 'u32') state.value = (x | 0) > (state.value | 0) ? x : state.value;
    else right(op, type, state, x, place);
  }),
  'sum of integers in float32': step((right, op, type, state, x, place) => {
    right(op, type, state, x, place);
    if (op === 'sum' && type !== 'f32') state.value = Math.fround(state.value);
  }),
  'product of integers in float32': step((right, op, type, state, x, place) => {
    right(op, type, state, x, place);
    if (op === 'product' && type !== 'f32') state.value = Math.fround(state.value);
  }),
  'a running float32 sum': step((right, op, type, state, x, place) => {
    right(op, type, state, x, place);
    if (op === 'sum' && type === 'f32') state.value = Math.fround(state.value);
  }),
  'mean of a float32 sum overflows': () => ({
    foldEnd: (op, type, state, length) =>
      op === 'mean' ? Math.fround(Math.fround(state.value) / length) : RIGHT.foldEnd(op, type, state, length),
  }),
  'mean divided by whole vectors': () => ({
    foldEnd: (op, type, state, length) =>
      RIGHT.foldEnd(op, type, state, op === 'mean' ? Math.ceil(length / 4) * 4 : length),
  }),
  'count gives whether any is': () => ({
    foldEnd: (op, type, state, length) =>
      op === 'count' ? Math.min(state.value, 1) : RIGHT.foldEnd(op, type, state, length),
  }),
  'count modulo 256': () => ({
    foldEnd: (op, type, state, length) => (op === 'count' ? state.value % 256 : RIGHT.foldEnd(op, type, state, length)),
  }),
  'max starts at 0': () => ({ foldStart: (op, type) => (op === 'max' ? 0 : RIGHT.foldStart(op, type)) }),
  'min of unsigned numbers starts at 2^31 - 1': () => ({
    foldStart: (op, type) => (op === 'min' && type === 'u32' ? 2 ** 31 - 1 : RIGHT.foldStart(op, type)),
  }),
  'all starts as any does': () => ({ foldStart: (op, type) => (op === 'all' ? 0 : RIGHT.foldStart(op, type)) }),
  'empty rows stored nothing': () => ({ computesRow: (_, { geometry }) => geometry.rowLength > 0 }),
  'the mean of nothing is 0': () => ({
    foldEnd: (op, type, state, length) => (op === 'mean' && length === 0 ? 0 : RIGHT.foldEnd(op, type, state, length)),
  }),
  'the greatest of nothing is 0': () => ({
    foldEnd: (op, type, state, length) => (op === 'max' && length === 0 ? 0 : RIGHT.foldEnd(op, type, state, length)),
  }),
  'rows from the 65,536th on dropped': () => ({ computesRow: (row) => row < 65_535 }),
  'the last row dropped where it is odd': () => ({
    computesRow: (row, { geometry }) =>
      !geometry.kernel.hasRows || row === 0 || row % 2 === 1 || row < geometry.rowCount - 1,
  }),
  'a second fold reads the row of the first': () => {
    const folds: number[] = [];
    let isSecond = false;
    return {
      foldLength: (length, node) => {
        if (!folds.includes(node)) folds.push(node);
        isSecond = folds.length > 1 && node !== Math.min(...folds);
        return length;
      },
      rowOf: (row, node) => (isSecond && node.level === 'element' ? Math.max(0, row - 1) : row),
    };
  },
  'an input of rows is read at the first row': () => ({
    rowOf: (row, node) => (node.level === 'row' ? 0 : row),
  }),
};

/** Bugs of folds. */
export const runFoldMutants: readonly Mutant[] = [
  ...LENGTHS.flatMap((length) => partMutants(ofLength(length), new RegExp(`^run/fold/.*shape=\\d+x${length},`))),
  ...partMutants(BUGS, /^run\/(fold|kernel)\//),
];

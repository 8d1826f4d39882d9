import type { FoldOp, ValueType } from '@concord/backend-core/kernel';
import { type Folding, foldingOf, FoldStates } from '@concord/kernel';
import type { Value } from '@concord/spirv-builder';
import { gridOf, groupIndex } from '../work.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import type { Recorder, Span } from '../recorder.ts';
import { SpirvArithmetic } from '../arithmetic/spirv-arithmetic.ts';
import { foldUnrolled, fromWord, setsOf, type States, toWord } from '../rows/states.ts';

/** The parameters that distinguish the kernels that join parts. */
interface CombineParams {
  /** The folds of the phase, and the types of what they fold. */
  readonly folds: readonly { readonly op: FoldOp; readonly type: ValueType }[];
  readonly groupSize: number;
}

/** Parts that a work-item joins at the same time. */
const UNROLL = 4;

/**
 * Joins states of parts: from `[value][parts][rows]` to `[value][ceil(parts / fan)][rows]`. A work-item joins `fan`
 * neighbouring parts of a row, the last one perhaps fewer; neighbours have neighbouring rows.
 */
const combineKernel: (params: CombineParams) => Kernel = variants(({ folds, groupSize }: CombineParams) => {
  const keys = folds.map(({ op, type }) => `${op} ${type}`).join(', ');
  return defineKernel<string>({
    name: `run/combine ${keys} by ${groupSize}`,
    parameters: { input: 'u32*', output: 'u32*', rows: 'u64', parts: 'u64', fan: 'u64' },
    groupSize: [groupSize, 1, 1],
    write: (k, { args }) => {
      const { input, output, rows, parts, fan } = args as Readonly<
        Record<'input' | 'output' | 'rows' | 'parts' | 'fan', Value>
      >;
      const a = new SpirvArithmetic(k, 1);
      const states = new FoldStates<Value, { folding: Folding }>(
        folds.map(({ op, type }) => ({ folding: foldingOf(op, type) })),
      );
      const left = k.udiv(k.add(parts, k.sub(fan, 1)), fan);
      const item = groupSize === 1 ? groupIndex(k) : k.add(k.mul(groupIndex(k), groupSize), k.localId(0));
      k.when(k.ult(item, k.mul(left, rows)), () => {
        const result = k.udiv(item, rows);
        const row = k.sub(item, k.mul(result, rows));
        const load = (part: Value): States =>
          states.types.map((type, index) => {
            const block = k.add(k.mul(parts, index), part);
            return fromWord(k, k.load(k.at(input, k.add(k.mul(block, rows), row))), type);
          });
        const from = k.mul(result, fan);
        const to = k.math('u_min', k.add(from, fan), parts);
        const whole = k.add(from, k.and(k.sub(to, from), -UNROLL));
        const one = states.identity(a);
        const begin = Array.from({ length: UNROLL }, () => one).flat();
        const all = foldUnrolled(k, { from, whole, to, step: 1, unroll: UNROLL }, begin, (before, part) =>
          states.join(a, before, load(part)),
        );
        states.joinAll(a, setsOf(all, UNROLL)).forEach((value, index) => {
          const block = k.add(k.mul(left, index), result);
          k.store(k.at(output, k.add(k.mul(block, rows), row)), toWord(k, value));
        });
      });
    },
  });
});

/** States of parts of rows. */
export interface Parts {
  readonly folds: CombineParams['folds'];
  /** Words of a state. */
  readonly values: number;
  readonly rows: number;
  readonly parts: number;
  /** `[values][parts][rows]` */
  readonly states: Span;
}

/** Parts that a work-item joins. */
export const FAN = 64;
/** Parts that are few. */
const MAX_LEFT = 16;
/** Work-items of a group of a GPU. */
const GROUP = 64;

/** States of rows, of which there are few parts left. */
export interface FewParts {
  readonly states: Span;
  readonly parts: number;
}

/**
 * Joins the parts of rows until those are few that work on: they join the rest.
 *
 * @returns the parts, and what came of each {@link FAN} of them, and so on; the last ones are few
 */
export function combine({ folds, values, rows, parts, states }: Parts, recorder: Recorder): readonly FewParts[] {
  const { traits } = recorder;
  const groupSize = traits.isCpuLike ? 1 : GROUP;
  const kernel = combineKernel({ folds, groupSize });
  let [input, count] = [states, parts];
  const levels: FewParts[] = [{ states, parts }];
  while (count > MAX_LEFT) {
    const left = Math.ceil(count / FAN);
    const output = recorder.scratch(4 * values * left * rows);
    const groups = gridOf(Math.ceil((left * rows) / groupSize), traits);
    recorder.launch({ kernel, args: { input, output, rows, parts: count, fan: FAN }, groups });
    [input, count] = [output, left];
    levels.push({ states: output, parts: left });
  }
  return levels;
}

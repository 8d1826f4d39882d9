import {
  FOLD_OPS,
  type FoldOp,
  type Level,
  NODE_OPS,
  type NodeOp,
  type NumberType,
  type ValueType,
} from '@concord/backend-core/kernel';
import { Random } from '../harness/random.ts';
import { ANY, graphLeaves } from './drawn.ts';
import { FLOAT_OPS, JUMPS, KEEPS_EXACT, type Range, resultRange } from './data.ts';
import type { GraphStyle, Step } from './plan.ts';

/** The maximum number of folds that depend on each other. */
const MAX_FOLDS = 6;
/** Whole float32 numbers up to this are added and multiplied without a rounding. */
const WHOLE = 2 ** 24;
const INTEGER_OPS: readonly NodeOp[] = (Object.keys(NODE_OPS) as NodeOp[]).filter((op) => {
  const { types } = NODE_OPS[op];
  return types.includes('u32') && !op.startsWith('bitcast') && !op.startsWith('to');
});
const BOOL_OPS: readonly NodeOp[] = ['and', 'or', 'xor', 'not', 'eq', 'ne', 'select'];
const WHOLE_OPS: readonly NodeOp[] = ['add', 'sub', 'mul', 'min', 'max', 'neg', 'abs', ...JUMPS];
const COMPARISONS: readonly NodeOp[] = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'];

/** The operand of a function that has to be positive, and not near 0. */
const WANT_POSITIVE: Partial<Readonly<Record<NodeOp | FoldOp, number>>> = {
  div: 1,
  pow: 0,
  sqrt: 0,
  rsqrt: 0,
  log: 0,
  log2: 0,
};
const POSITIVE = 1.5;
const isPositive = ({ type, range }: Step): boolean => type === 'f32' && range[0] >= 0.1 && range[1] <= 20;

/** A graph that grows step by step: the first steps of a seed are the same however many are drawn. */
export class GraphGrower {
  readonly steps: Step[] = [];
  readonly #random: Random;
  readonly #style: GraphStyle;
  readonly #hasRows: boolean;
  readonly #gatherRank: number;
  /** Steps that are an operand of another. */
  readonly #used = new Set<number>();
  #folds = 0;

  /** @param hasRows - whether the call folds axes */
  constructor(seed: number, style: GraphStyle, hasRows: boolean) {
    this.#random = new Random(`graph ${seed}`);
    this.#style = style;
    this.#hasRows = hasRows;
    this.#gatherRank = this.#random.integer(1, 3);
    this.steps.push(...graphLeaves(this.#random, style, hasRows));
  }

  /** Grows to that many steps. */
  growTo(count: number): readonly Step[] {
    while (this.steps.length < count) this.#grow();
    return this.steps;
  }

  /** Axes of the gather input. */
  get gatherRank(): number {
    return this.#gatherRank;
  }

  #grow(): void {
    for (let attempt = 0; attempt < 60; attempt++) {
      const step = this.#attempt();
      if (step === undefined) continue;
      for (const operand of step.operands) this.#used.add(operand);
      this.steps.push(step);
      return;
    }
    // What always goes.
    this.steps.push(this.#made('xor', 'u32', [this.#pick('u32') as number, this.#pick('u32') as number], ANY));
  }

  #attempt(): Step | undefined {
    const random = this.#random;
    const turn = random.unit();
    const isFloat = this.#style === 'float';
    if (this.#hasRows && turn < 0.08) return this.#fold();
    if (turn < 0.12) return this.#gather();
    if (turn < 0.2) return this.#conversion();
    if (turn < 0.27) return this.#comparison();
    if (turn < 0.33) return this.#select();
    if (turn < (isFloat ? 0.36 : 0.4)) return this.#onTypes(random.pick(BOOL_OPS), 'bool');
    if (turn < (isFloat ? 0.42 : 0.85)) return this.#onTypes(random.pick(INTEGER_OPS), random.pick(['i32', 'u32']));
    return this.#float(random.pick(isFloat ? FLOAT_OPS : WHOLE_OPS));
  }

  #onTypes(op: NodeOp, type: ValueType): Step | undefined {
    const rule = NODE_OPS[op];
    if (!rule.types.includes(type)) return undefined;
    const operands = Array.from({ length: rule.operands }, (_, index) =>
      this.#pick(op === 'select' && index === 0 ? 'bool' : type),
    );
    if (!isComplete(operands)) return undefined;
    return this.#made(op, rule.result === 'same' ? type : rule.result, operands, ANY);
  }

  #float(op: NodeOp): Step | undefined {
    const isExact = this.#style === 'exact';
    const positive = WANT_POSITIVE[op];
    if (positive !== undefined && !this.steps.some(isPositive)) return this.#positive();
    const operands = Array.from({ length: NODE_OPS[op].operands }, (_, index) =>
      index === positive ? this.#pickOf(isPositive) : this.#pick('f32'),
    );
    if (!isComplete(operands)) return undefined;
    const given = operands.map((operand) => this.steps[operand] as Step);
    if (JUMPS.has(op) && given.some((step) => !step.isExact)) return undefined;
    const range = resultRange(
      op,
      given.map((step) => step.range),
      isExact ? WHOLE : undefined,
    );
    if (range === undefined) return undefined;
    const step = this.#made(op, 'f32', operands, range);
    return { ...step, isExact: isExact || (step.isExact && KEEPS_EXACT.has(op)) };
  }

  /** A step towards |x| + 1.5. */
  #positive(): Step | undefined {
    const magnitude = this.#pickOf(({ op, type }) => op === 'abs' && type === 'f32');
    const operand = magnitude ?? this.#pick('f32');
    if (operand === undefined) return undefined;
    const [low, high] = (this.steps[operand] as Step).range;
    if (magnitude === undefined) return this.#made('abs', 'f32', [operand], [0, Math.max(-low, high)]);
    const offset = this.steps.findIndex(({ kind, value }) => kind === 'constant' && value === POSITIVE);
    if (offset < 0) return { ...this.#constant('f32', POSITIVE), range: [POSITIVE, POSITIVE] };
    return { ...this.#made('add', 'f32', [operand, offset], [low + POSITIVE, high + POSITIVE]), isExact: false };
  }

  #comparison(): Step | undefined {
    if (this.#random.chance(0.15)) return this.#onTypes(this.#random.pick(['isNan', 'isFinite']), 'f32');
    const type = this.#random.pick(['f32', 'f32', 'i32', 'u32'] as const);
    const operands = [this.#pick(type), this.#pick(type)];
    if (!isComplete(operands) || operands[0] === operands[1]) return undefined;
    const step = this.#made(this.#random.pick(COMPARISONS), 'bool', operands, ANY);
    return step.isExact || this.#random.chance(0.1) ? step : undefined;
  }

  #select(): Step | undefined {
    const type = this.#random.pick(['f32', 'f32', 'i32', 'u32'] as const);
    const operands = [this.#pick('bool'), this.#pick(type), this.#pick(type)];
    if (!isComplete(operands)) return undefined;
    const [a, b] = operands.slice(1).map((operand) => (this.steps[operand] as Step).range) as [Range, Range];
    return this.#made('select', type, operands, [Math.min(a[0], b[0]), Math.max(a[1], b[1])]);
  }

  #conversion(): Step | undefined {
    const random = this.#random;
    const op = random.pick(['toF32', 'toI32', 'toU32', 'bitcastI32', 'bitcastU32'] as const);
    const isBits = op.startsWith('bitcast');
    const from = random.pick(NODE_OPS[op].types.filter((type) => type !== 'f32' || !isBits));
    const operand = this.#pick(from);
    if (operand === undefined) return undefined;
    const { isExact } = this.steps[operand] as Step;
    if (from === 'f32' && !isExact) return undefined;
    // A float of an integer that may be anything would be too large to go on with.
    if (op === 'toF32' && from !== 'bool' && this.#style === 'float') return this.#smallFloat(operand, from);
    const range: Range = from === 'bool' ? [0, 1] : ANY;
    return this.#made(op, op === 'toF32' ? 'f32' : op.endsWith('I32') ? 'i32' : 'u32', [operand], range);
  }

  /** An integer modulo 16 as a float. */
  #smallFloat(operand: number, from: ValueType): Step | undefined {
    const step = this.steps[operand] as Step;
    if (step.op === 'rem') return { ...this.#made('toF32', 'f32', [operand], [-16, 16]) };
    const divisor = this.steps.findIndex(
      (other) => other.kind === 'constant' && other.type === from && other.value === 16,
    );
    if (divisor >= 0) return this.#made('rem', from, [operand, divisor], ANY);
    return { ...this.#constant(from, 16) };
  }

  #constant(type: ValueType, value: number): Step {
    return { kind: 'constant', type, level: 'call', operands: [], value, range: ANY, isExact: true };
  }

  #fold(): Step | undefined {
    const random = this.#random;
    if (this.#folds >= MAX_FOLDS) return undefined;
    const isFloat = this.#style === 'float';
    const ops = Object.keys(FOLD_OPS) as FoldOp[];
    const op = random.pick(ops);
    const operand = this.#pick(random.pick(FOLD_OPS[op].types));
    if (operand === undefined) return undefined;
    const { type, range, isExact } = this.steps[operand] as Step;
    const isOrder = op === 'max' || op === 'min' || op === 'argmax' || op === 'argmin';
    if (type === 'f32' && !isOrder && (!isFloat || op === 'product')) return undefined;
    if (op.startsWith('arg') && !isExact) return undefined;
    const scale = op === 'sum' && type === 'f32' ? 32 : 1;
    const folded: Range = [Math.min(range[0] * scale, 0), Math.max(range[1] * scale, 0)];
    if (type === 'f32' && Math.max(-folded[0], folded[1]) > 4000) return undefined;
    this.#folds++;
    const { result } = FOLD_OPS[op];
    return {
      ...{ kind: 'fold', op, level: 'row', operands: [operand], type: result === 'same' ? type : result },
      ...{ range: result === 'same' && type === 'f32' ? (isOrder ? range : folded) : ANY },
      isExact: isExact && (type !== 'f32' || isOrder),
    };
  }

  #gather(): Step | undefined {
    const type: NumberType = this.#style === 'float' ? 'f32' : 'i32';
    const indices = Array.from({ length: this.#gatherRank }, () => this.#gatherIndex());
    const otherwise = this.#pick(type);
    if (otherwise === undefined || !isComplete(indices)) return undefined;
    const { range } = this.steps[otherwise] as Step;
    const operands = [otherwise, ...indices];
    return {
      ...{ kind: 'gather', name: 't', type, operands, level: this.#levelOf(operands) },
      ...{ range: [Math.min(range[0], -8), Math.max(range[1], 8)], isExact: this.#areExact(operands) },
    };
  }

  /** Indices that are mostly inside: an axis, or the remainder of an integer. */
  #gatherIndex(): number | undefined {
    const small = this.steps.flatMap(({ kind, op, type, isExact }, index) => {
      const isSmall = kind === 'index' || kind === 'rowIndex' || op === 'rem' || (op === 'and' && type === 'u32');
      return isSmall && isExact && type !== 'f32' && type !== 'bool' ? [index] : [];
    });
    return small.length === 0 ? undefined : this.#random.pick(small);
  }

  #made(op: NodeOp, type: ValueType, operands: readonly number[], range: Range): Step {
    const level = this.#levelOf(operands);
    return { kind: 'arithmetic', op, type, level, operands, range, isExact: this.#areExact(operands) };
  }

  #areExact(operands: readonly number[]): boolean {
    return operands.every((operand) => this.steps[operand]?.isExact === true);
  }

  #levelOf(operands: readonly number[]): Level {
    const levels = operands.map((operand) => this.steps[operand]?.level);
    return levels.includes('element') ? 'element' : levels.includes('row') ? 'row' : 'call';
  }

  /** A step of a type, mostly a late one or one that nothing uses yet, so that graphs grow deep. */
  #pick(type: ValueType): number | undefined {
    return this.#pickOf((step) => step.type === type);
  }

  #pickOf(fits: (step: Step) => boolean): number | undefined {
    const fitting = this.steps.flatMap((step, index) => (fits(step) ? [index] : []));
    if (fitting.length === 0) return undefined;
    const unused = fitting.filter((index) => !this.#used.has(index));
    const turn = this.#random.unit();
    if (turn < 0.5 && unused.length > 0) return this.#random.pick(unused);
    return this.#random.pick(turn < 0.8 ? fitting.slice(-3) : fitting);
  }
}

function isComplete(operands: (number | undefined)[]): operands is number[] {
  return !operands.includes(undefined);
}

import type { DType } from '@concord/backend-core';
import {
  defineKernel,
  type InputSpec,
  type Kernel,
  type KernelBuilder,
  type Level,
  type NumberType,
  type OutputSpecs,
  SCAN_OPS,
  type ScanOp,
  type Scattered,
  type ScatterMode,
  STORAGE_DTYPES,
  type Value,
} from '@concord/backend-core/kernel';
import { Random } from '../harness/random.ts';
import { plainer, replaced, smallerSizes } from '../harness/shrink.ts';
import type { DataKind, Range } from './data.ts';
import { GraphGrower } from './grow-graph.ts';
import { storable } from './node-kernels.ts';
import { PLACE_KINDS, type PlaceKind, type ViewKind } from './placement.ts';
import { type GraphStyle, makePlan, RUN_DEFAULTS, type RunParams, type RunPlan, type Step } from './plan.ts';

/** The range of an integer, of which any is fine. */
export const ANY: Range = [-(2 ** 32), 2 ** 32];

/** The inputs, parameters, axes and constants with which a drawn graph begins. */
export function graphLeaves(random: Random, style: GraphStyle, hasRows: boolean): readonly Step[] {
  const isFloat = style === 'float';
  const numbers: readonly NumberType[] = isFloat ? ['f32', 'f32', 'f32', 'i32'] : ['f32', 'i32', 'u32'];
  return [
    leaf('input', isFloat ? 'f32' : random.pick(numbers), 'element', { name: 'a' }),
    leaf('input', random.pick(numbers), 'element', { name: 'b' }),
    leaf('parameter', random.pick(numbers), 'call', { name: 'p' }),
    leaf('parameter', 'u32', 'call', { name: 'q' }),
    leaf('index', 'u32', 'element', { value: random.integer(0, 7) }),
    leaf('extent', 'u32', 'call', { value: random.integer(0, 7) }),
    ...(hasRows
      ? [
          leaf('input', random.pick(numbers), 'row', { name: 'r' }),
          leaf('rowIndex', 'u32', 'row', { value: random.integer(0, 7) }),
        ]
      : []),
    leaf('constant', 'f32', 'call', {
      value: random.pick(isFloat ? [0.5, 1.5, -2, 3, 0] : [1, -2, 3, 0]),
      range: [-2, 3],
    }),
    leaf('constant', 'i32', 'call', { value: random.integer(-9, 9) }),
    leaf('constant', 'u32', 'call', { value: random.uint32() }),
  ];
}

function leaf(kind: Step['kind'], type: NumberType, level: Level, more: Partial<Step>): Step {
  return { kind, type, level, operands: [], range: type === 'f32' ? [-8, 8] : ANY, isExact: true, ...more };
}

/** The axes of the call that a graph is made for. */
interface GraphAxes {
  readonly rank: number;
  /** Axes that are not folded; the rank where none is. */
  readonly rowRank: number;
  readonly gatherRank: number;
}

/** The steps that some of them depend on, themselves included, in order. */
function closureOf(steps: readonly Step[], roots: readonly number[]): number[] {
  const seen = new Set<number>();
  const waiting = [...roots];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    waiting.push(...(steps[next] as Step).operands);
  }
  return [...seen].sort((a, b) => a - b);
}

/**
 * The kernel that stores the values of `roots`, as `y0`, `y1`, ...
 *
 * @param stored - the mode in which the first one is written by index, undefined where it is not; its scan, empty where it has none; and whether others have the names of
 *   inputs where they can, in whose places they are then
 */
function graphKernel(
  steps: readonly Step[],
  roots: readonly number[],
  axes: GraphAxes,
  {
    scatter,
    scan,
    isNamed,
  }: { readonly scatter: ScatterMode | undefined; readonly scan: string; readonly isNamed: boolean },
): Kernel {
  const used = closureOf(steps, roots);
  const inputs: Record<string, InputSpec> = {};
  const params: Record<string, NumberType> = {};
  for (const index of used) {
    const { kind, name = '', type, level } = steps[index] as Step;
    const number = type as NumberType;
    if (kind === 'parameter') params[name] = number;
    if (kind === 'input') inputs[name] = level === 'row' ? { type: number, level } : number;
    if (kind === 'gather') inputs[name] = { type: number, access: 'gather', rank: axes.gatherRank as 1 };
  }
  const type = steps[roots[0] as number]?.type === 'bool' ? 'u32' : (steps[roots[0] as number]?.type as NumberType);
  const rank = axes.gatherRank as 1;
  const outputs: OutputSpecs = scatter === undefined ? {} : { y0: { type, access: 'scatter', rank, mode: scatter } };
  return defineKernel('drawn', { inputs, params, outputs }, (symbols, k) => {
    const values = new Map<number, Value>();
    const context = { k, symbols: symbols as Readonly<Record<string, Value>>, axes, values };
    for (const index of used) values.set(index, valueOf(context, steps[index] as Step));
    const free = isNamed ? Object.keys(inputs) : [];
    const stored = roots.map((root, index): readonly [string, Value<NumberType> | Scattered] => {
      const value = storable(k, values.get(root) as Value);
      const stored = index === 0 && scan !== '' ? scanned(k, value, scan) : value;
      const own = stored.level === 'call' ? k.spread(stored) : stored;
      const namesake = free.findIndex((name) => own.level === 'element' && inputs[name] === own.type);
      const [name = `y${index}`] = namesake < 0 ? [] : free.splice(namesake, 1);
      return [name, index > 0 || scatter === undefined ? own : k.scatter(own, placesOf(k, own, axes))];
    });
    return Object.fromEntries(stored);
  });
}

/** A scan in words. Of an f32 no product: soon nothing would be known of it. */
function scanned(k: KernelBuilder, value: Value<NumberType>, words: string): Value<NumberType> {
  const op = words.split(' ').at(-1) as ScanOp;
  const own = op === 'product' && value.type === 'f32' ? 'sum' : op;
  const scan = k.scan(own, value, { exclusive: words.includes('exclusive'), reverse: words.includes('reverse') });
  return value.type === 'f32' ? k.neg(scan) : k.sub(scan, value);
}

/** Indices of a drawn scatter: inside and outside, some of them met by several points. */
function placesOf(k: KernelBuilder, { level }: Value, { rank, rowRank, gatherRank }: GraphAxes): Value<'u32'>[] {
  const count = level === 'row' ? rowRank : rank;
  const along = (axis: number): Value<'u32'> =>
    count === 0 ? k.u32(2) : level === 'row' ? k.rowIndex(axis % count) : k.index(axis % count);
  return Array.from({ length: gatherRank }, (_, axis) =>
    k.rem(k.add(k.mul(along(axis), 2 * axis + 3), along(axis + 1)), gatherRank === 1 ? 23 : 6 - axis),
  );
}

interface Context {
  readonly k: KernelBuilder;
  readonly symbols: Readonly<Record<string, Value>>;
  readonly axes: GraphAxes;
  readonly values: ReadonlyMap<number, Value>;
}

function valueOf({ k, symbols, axes, values }: Context, step: Step): Value {
  const any = k as unknown as Readonly<Record<string, (...operands: unknown[]) => Value>>;
  const operands = step.operands.map((operand) => values.get(operand) as Value);
  const { kind, op = '', name = '', value = 0, type } = step;
  switch (kind) {
    case 'constant':
      return any[type]?.(value) as Value;
    case 'parameter':
    case 'input':
      return symbols[name] as Value;
    case 'index':
    case 'rowIndex':
    case 'extent': {
      const count = kind === 'rowIndex' ? axes.rowRank : axes.rank;
      // A call without such an axis has a zero in its place, of the same level.
      if (count > 0) return any[kind]?.(value % count) as Value;
      return kind === 'index' ? k.spread(k.u32(0)) : k.u32(0);
    }
    case 'gather':
      return any['gather']?.(symbols[name], operands.slice(1), operands[0]) as Value;
    case 'fold':
      return k.fold(op as 'sum', operands[0] as Value<'f32'>);
    case 'arithmetic':
      return any[op.startsWith('bitcast') ? 'bitcast' : op]?.(
        ...(op.startsWith('bitcast') ? [op.slice('bitcast'.length).toLowerCase()] : []),
        ...operands,
      ) as Value;
  }
}

/** Largest number of nodes of a drawn graph: float ones soon lose their answer, exact ones have none to lose. */
const MAX_NODES: Readonly<Record<GraphStyle, number>> = { float: 24, exact: 250 };
/** The maximum of nodes if an output is written by index, as its indices are nodes too. */
const MAX_SCATTERED = 220;
const MAX_OUTPUTS = 3;
const SCATTER_MODES: readonly ScatterMode[] = ['set', 'add', 'max', 'min'];

/** Parameters that follow from a number alone. */
export function drawRunParams(seed: number): RunParams {
  const random = new Random(`run ${seed}`);
  const style: GraphStyle = random.chance(0.6) ? 'float' : 'exact';
  const nodes =
    style === 'float' ? random.integer(3, 24) : random.pick([random.integer(4, 40), random.integer(40, 250)]);
  const shape = drawShape(random, nodes > 40 ? 150 : 700);
  const folded = shape.length > 0 && random.chance(0.6) ? random.integer(1, shape.length) : 0;
  const params: RunParams = {
    ...RUN_DEFAULTS,
    style,
    shape,
    folded,
    data: random.pick(
      style === 'float' ? ['moderate', 'moderate', 'moderate', 'rare-specials'] : ['small', 'any', 'any'],
    ),
    views: random.pick(['dense', 'mixed', 'mixed']),
    dtype: random.pick(['own', 'mixed']),
    place: random.chance(0.5) ? 'separate' : random.pick(PLACE_KINDS),
    offset: random.pick([0, 0, 1, 3]),
    seed,
  };
  const steps = stepsOf(params, Math.ceil(nodes * 1.5) + 12);
  return { ...params, roots: chooseRoots(random, steps, Math.min(nodes + 8, MAX_NODES[style])) };
}

/** The same parameters, perhaps with a first output that is written by index, or with outputs that have names of inputs. */
export function perhapsScattered(params: RunParams): RunParams {
  const random = new Random(`run ${params.seed} scatter`);
  const isSmall = closureOf(stepsOf(params, Math.max(...params.roots) + 1), params.roots).length <= MAX_SCATTERED;
  if (random.chance(0.2) && isSmall) return { ...params, scatter: random.pick(SCATTER_MODES) };
  return random.chance(0.2) ? { ...params, place: 'named' } : params;
}

/** The same parameters, perhaps with a first output that is scanned, unless it is written by index: nodes are limited. */
export function perhapsScanned(params: RunParams): RunParams {
  const random = new Random(`run ${params.seed} scan`);
  if (params.folded === 0 || params.scatter !== '' || !random.chance(0.25)) return params;
  const words = [random.chance(0.5) ? 'exclusive' : '', random.chance(0.5) ? 'reverse' : '', random.pick(SCAN_OPS)];
  return { ...params, scan: words.filter((word) => word !== '').join(' ') };
}

/** The plan of a drawn case. */
export function drawnPlan(params: RunParams): RunPlan {
  const { shape, seed } = params;
  const grower = growerOf(params);
  const steps = grower.growTo(Math.max(...params.roots) + 1);
  const { gatherRank } = grower;
  const axes = { rank: shape.length, rowRank: shape.length - params.folded, gatherRank };
  const scatter = params.scatter === '' ? undefined : (params.scatter as ScatterMode);
  const isNamed = params.place === 'named';
  const kernel = graphKernel(steps, params.roots, axes, { scatter, scan: params.scan, isNamed });
  const isExact = params.style === 'exact';
  const data = params.data as DataKind;
  return makePlan({
    ...{ seed: `run ${seed}`, kernel, shape, folded: params.folded },
    ...{ place: params.place as PlaceKind, offset: params.offset, params: drawScalars(kernel, seed, isExact) },
    dataOf: ({ type }) => (type !== 'f32' ? data : isExact && data !== 'rare-specials' ? 'small' : data),
    viewOf: () => params.views as ViewKind,
    dtypeOf: ({ name, type }) =>
      params.dtype === 'own' ? type : new Random(`run ${seed} dtype ${name}`).pick<DType>(STORAGE_DTYPES[type]),
    gatherShapeOf: () => {
      const random = new Random(`run ${seed} gather`);
      return Array.from({ length: gatherRank }, () => random.integer(1, gatherRank === 1 ? 40 : 7));
    },
  });
}

/** Smaller parameters: fewer nodes, axes, elements, then a plainer layout. */
export function shrinkDrawn(params: RunParams): Partial<RunParams>[] {
  const { roots, shape, folded } = params;
  const smaller: Partial<RunParams>[] = [];
  if (roots.length > 1) for (const root of roots) smaller.push({ roots: [root] });
  const steps = stepsOf(params, Math.max(...roots) + 1);
  for (const [index, root] of roots.entries()) {
    for (const other of smallerRoots(steps, root)) smaller.push({ roots: replaced(roots, index, other) });
  }
  for (const [axis, size] of shape.entries()) {
    const isFolded = axis >= shape.length - folded;
    const without = shape.filter((_, other) => other !== axis);
    if (!isFolded) smaller.push({ shape: without });
    else if (folded > 1) smaller.push({ shape: without, folded: folded - 1 });
    for (const less of smallerSizes(size)) smaller.push({ shape: replaced(shape, axis, less) });
  }
  return [...smaller, ...plainer(params, RUN_DEFAULTS, ['scatter', 'scan', 'place', 'views', 'dtype', 'offset'])];
}

function growerOf({ seed, style, folded }: RunParams): GraphGrower {
  return new GraphGrower(seed, style as GraphStyle, folded > 0);
}

function stepsOf(params: RunParams, count: number): readonly Step[] {
  return growerOf(params).growTo(count);
}

/** Late steps that can be stored, the ones with the largest graphs first, as long as all stays within the limits. */
function chooseRoots(random: Random, steps: readonly Step[], maxNodes: number): number[] {
  const wanted = random.integer(1, MAX_OUTPUTS);
  const late = steps.flatMap(({ type }, index) => (type !== 'bool' && index > steps.length * 0.6 ? [index] : []));
  const bySize = late
    .map((index) => ({ index, size: closureOf(steps, [index]).length }))
    .sort((a, b) => b.size - a.size || b.index - a.index);
  const roots: number[] = [];
  for (const { index } of bySize) {
    if (roots.length === wanted) break;
    if (closureOf(steps, roots).includes(index)) continue;
    if (closureOf(steps, [...roots, index]).length + 4 <= maxNodes) roots.push(index);
  }
  return roots.length > 0 ? roots : [0];
}

/** Steps that a root depends on, instead of it: that with half of its graph, then its own operands. */
function smallerRoots(steps: readonly Step[], root: number): number[] {
  const storable = (index: number): boolean => steps[index]?.type !== 'bool';
  const closure = closureOf(steps, [root]);
  const half = closure.filter(
    (index) => index !== root && storable(index) && closureOf(steps, [index]).length <= closure.length / 2,
  );
  const near = closure.filter((index) => index !== root && storable(index)).slice(-4);
  return [...new Set([...half.slice(-1), ...near.reverse()])];
}

function drawShape(random: Random, max: number): number[] {
  const rank = random.pick([0, 1, 1, 2, 2, 2, 3, 3, 4, 5, random.integer(6, 8)]);
  const shape: number[] = [];
  let rest = max;
  for (let axis = 0; axis < rank; axis++) {
    const size = Math.min(
      rest,
      random.pick([1, random.integer(2, 5), random.integer(2, 40), axis === rank - 1 ? rest : 9]),
    );
    shape.push(random.chance(0.01) ? 0 : size);
    rest = Math.max(1, Math.floor(rest / size));
  }
  return random.permutation(rank).map((axis) => shape[axis] as number);
}

function drawScalars({ params }: Kernel, seed: number, isWhole: boolean): Record<string, number> {
  return Object.fromEntries(
    params.map(({ name, type }) => {
      const random = new Random(`run ${seed} scalar ${name}`);
      const value = type === 'f32' ? 4 * random.unit() - 2 : type === 'i32' ? random.uint32() | 0 : random.uint32();
      return [name, type === 'f32' ? Math.round(isWhole ? value : value * 8) / (isWhole ? 1 : 8) : value];
    }),
  );
}

import {
  defineKernel,
  type InputSpec,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type OutputSpecs,
  type Scattered,
  type ScanOp,
  type ScatterMode,
  type Value,
} from '@concord/backend-core/kernel';
import type { Step } from './step.ts';
import { storable } from './node-kernels.ts';

/** The axes of the call that a graph is made for. */
export interface GraphAxes {
  readonly rank: number;
  /** Axes that are not folded; the rank where none is. */
  readonly rowRank: number;
  readonly gatherRank: number;
}

/** The steps that some of them depend on, themselves included, in order. */
export function closureOf(steps: readonly Step[], roots: readonly number[]): number[] {
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
export function graphKernel(
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

import type { NodeOp, ValueType } from '@concord/backend-core/kernel';
import { F32_COMPARISONS, F32_TESTS, I32_COMPARISONS, selectLoop, U32_COMPARISONS } from './comparison-loops.ts';
import { FLOAT_BINARY, FLOAT_UNARY } from './float-loops.ts';
import { BIT_LOOPS, I32_LOOPS, U32_LOOPS } from './integer-loops.ts';
import { type Loop, mapped } from './loop.ts';
import { floats, ints, words } from './slot.ts';
import { erf, geluTanh, random, toI32, toU32 } from './special-functions.ts';

const toI32Loop: Loop = (n, to, first) => {
  const z = ints(to);
  const x = floats(first);
  for (let i = 0; i < n; i++) z[i] = toI32(x[i]!);
};
const toU32Loop: Loop = (n, to, first) => {
  const z = words(to);
  const x = floats(first);
  for (let i = 0; i < n; i++) z[i] = toU32(x[i]!);
};
const randomLoop: Loop = (n, to, first, second, third) => {
  const z = words(to);
  const seed = words(first);
  const index = words(second);
  const stream = words(third);
  for (let i = 0; i < n; i++) z[i] = random(seed[i]!, index[i]!, stream[i]!);
};

type Loops = Partial<Readonly<Record<NodeOp, Loop>>>;

const OF_FLOATS: Loops = {
  ...FLOAT_UNARY,
  ...FLOAT_BINARY,
  ...F32_COMPARISONS,
  ...F32_TESTS,
  exp2: mapped((x) => 2 ** x),
  expm1: mapped(Math.expm1),
  log2: mapped(Math.log2),
  log1p: mapped(Math.log1p),
  sin: mapped(Math.sin),
  cos: mapped(Math.cos),
  geluTanh: mapped(geluTanh),
  erf: mapped(erf),
  toI32: toI32Loop,
  toU32: toU32Loop,
};

const { notBool, not, ...SHARED } = BIT_LOOPS;
const LOOPS: Readonly<Record<ValueType, Loops>> = {
  f32: OF_FLOATS,
  i32: { ...SHARED, not, ...I32_LOOPS, ...I32_COMPARISONS },
  u32: { ...SHARED, not, ...U32_LOOPS, ...U32_COMPARISONS, random: randomLoop },
  bool: { ...SHARED, not: notBool, ...I32_COMPARISONS, toF32: I32_LOOPS.toF32 },
};

/** The loop of an operation on operands of a type. */
export function loopOf(op: NodeOp, type: ValueType): Loop {
  if (op === 'select') return selectLoop;
  const loop = LOOPS[type][op];
  if (loop === undefined) throw new Error(`no loop for ${op} of ${type}`);
  return loop;
}

/** Returns whether an operation leaves the bits of its operand as they are: then they need not be copied. */
export function isView(op: NodeOp, type: ValueType): boolean {
  switch (op) {
    case 'bitcastF32':
    case 'bitcastI32':
    case 'bitcastU32':
      return true;
    case 'toI32':
    case 'toU32':
      return type !== 'f32';
    case 'abs':
      return type === 'u32';
    default:
      return false;
  }
}

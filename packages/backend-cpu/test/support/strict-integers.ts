import type { NodeOp } from '@concord/backend-core/kernel';

/** An operation of two integers, or bools, as the contract says, through BigInt. */
export function strictInteger(op: NodeOp, type: 'i32' | 'u32' | 'bool', a: number, b: number): number {
  if (op === 'eq' || op === 'ne') return (a === b) === (op === 'eq') ? 1 : 0;
  if (op === 'lt' || op === 'gt') return (op === 'lt' ? a < b : a > b) ? 1 : 0;
  if (op === 'le' || op === 'ge') return (op === 'le' ? a <= b : a >= b) ? 1 : 0;
  if (type === 'bool') {
    if (op === 'not') return 1 - a;
    return op === 'and' ? a & b : op === 'or' ? a | b : a ^ b;
  }
  const to = op === 'toI32' ? 'i32' : op === 'toU32' ? 'u32' : type;
  const result = exactly(op, BigInt(a), BigInt(b ?? 0));
  return Number(to === 'i32' ? BigInt.asIntN(32, result) : BigInt.asUintN(32, result));
}

function exactly(op: NodeOp, a: bigint, b: bigint): bigint {
  switch (op) {
    case 'add':
      return a + b;
    case 'sub':
      return a - b;
    case 'mul':
      return a * b;
    case 'div':
      return b === 0n ? 0n : a / b;
    case 'rem':
      return b === 0n ? 0n : a % b;
    case 'min':
      return a < b ? a : b;
    case 'max':
      return a > b ? a : b;
    case 'and':
      return a & b;
    case 'or':
      return a | b;
    case 'xor':
      return a ^ b;
    case 'shl':
      return a << (b & 31n);
    case 'shr':
      return a >> (b & 31n);
    case 'neg':
      return -a;
    case 'abs':
      return a < 0n ? -a : a;
    case 'not':
      return ~a;
    case 'toI32':
    case 'toU32':
      return a;
    default:
      throw new Error(`no integer operation ${op}`);
  }
}

import { codeOf } from './instruction.ts';
import { unsigned } from './numbers.ts';
import type { Code, Operand, Statement, Value } from './value.ts';

type Word = Operand<'i32'>;

/** Instructions on ranges of memory. */
export const memory = {
  /** Copies bytes; the ranges may overlap. */
  copy: (to: Word, from: Word, bytes: Word): Statement => ({
    type: 'none',
    code: [codeOf('i32', to), codeOf('i32', from), codeOf('i32', bytes), 0xfc, 0x0a, 0, 0],
  }),
  fill: (to: Word, byte: Word, bytes: Word): Statement => ({
    type: 'none',
    code: [codeOf('i32', to), codeOf('i32', byte), codeOf('i32', bytes), 0xfc, 0x0b, 0],
  }),
};

const atomicCode = (opcode: number, offset: number, ...operands: Code[]): Code => [
  ...operands,
  0xfe,
  opcode,
  2,
  ...unsigned(offset),
];

const readModifyWrite = (opcode: number, address: Word, value: Word, offset: number): Value<'i32'> => ({
  type: 'i32',
  code: atomicCode(opcode, offset, codeOf('i32', address), codeOf('i32', value)),
});

/** Atomic instructions on words at multiples of 4; those that change a word give the old one. */
export const atomic = {
  load: (address: Word, offset = 0): Value<'i32'> => ({
    type: 'i32',
    code: atomicCode(0x10, offset, codeOf('i32', address)),
  }),
  store: (address: Word, value: Word, offset = 0): Statement => ({
    type: 'none',
    code: atomicCode(0x17, offset, codeOf('i32', address), codeOf('i32', value)),
  }),
  rmwAdd: (address: Word, value: Word, offset = 0): Value<'i32'> => readModifyWrite(0x1e, address, value, offset),
  rmwSub: (address: Word, value: Word, offset = 0): Value<'i32'> => readModifyWrite(0x25, address, value, offset),
  rmwXchg: (address: Word, value: Word, offset = 0): Value<'i32'> => readModifyWrite(0x41, address, value, offset),
  /** Writes `value` where the word is `expected`. */
  rmwCmpxchg: (address: Word, expected: Word, value: Word, offset = 0): Value<'i32'> => ({
    type: 'i32',
    code: atomicCode(0x48, offset, codeOf('i32', address), codeOf('i32', expected), codeOf('i32', value)),
  }),
  /** Wakes up to `count` waiting threads; gives how many. */
  notify: (address: Word, count: Word, offset = 0): Value<'i32'> => readModifyWrite(0x00, address, count, offset),
  /** Waits while the word is `expected`: 0 woken, 1 another word, 2 after `nanoseconds` (negative: no limit). */
  wait32: (address: Word, expected: Word, nanoseconds: Operand<'i64'>, offset = 0): Value<'i32'> => ({
    type: 'i32',
    code: atomicCode(0x01, offset, codeOf('i32', address), codeOf('i32', expected), codeOf('i64', nanoseconds)),
  }),
};

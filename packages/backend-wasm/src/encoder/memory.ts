import { codeOf } from './instruction.ts';
import type { Operand, Statement } from './value.ts';

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

import {
  type Binary,
  binary,
  codeOf,
  type Load,
  load,
  type Named,
  named,
  type Operand,
  type Store,
  store,
  type Unary,
  unary,
  type Value,
  type ValueType,
} from './instruction.ts';

const I32_LOADS = { load: 0x28, load8S: 0x2c, load8U: 0x2d, load16U: 0x2f } as const;
const I32_STORES = { store: 0x36, store16: 0x3b } as const;
const I32_COMPARES = { eq: 0x46, ne: 0x47, ltS: 0x48, ltU: 0x49, gtS: 0x4a, gtU: 0x4b, leU: 0x4d, geU: 0x4f } as const;
const I32_ARITHMETIC = { add: 0x6a, sub: 0x6b, mul: 0x6c, divS: 0x6d, divU: 0x6e, remS: 0x6f, remU: 0x70 } as const;
const I32_BITS = { and: 0x71, or: 0x72, xor: 0x73, shl: 0x74, shrS: 0x75, shrU: 0x76 } as const;
type I32Binary = typeof I32_COMPARES & typeof I32_ARITHMETIC & typeof I32_BITS;
const F32_COMPARES = { eq: 0x5b, ne: 0x5c } as const;
const F32_BINARY = { add: 0x92, sub: 0x93, mul: 0x94, div: 0x95, max: 0x97 } as const;

/** Instructions on 32-bit integers; comparisons give 0 or 1. */
export const i32: Named<typeof I32_LOADS, Load<'i32'>> &
  Named<typeof I32_STORES, Store<'i32'>> &
  Named<I32Binary, Binary<'i32', 'i32'>> & {
    readonly const: (value: number) => Value<'i32'>;
    readonly eqz: Unary<'i32', 'i32'>;
  } = {
  ...named(I32_LOADS, (opcode) => load('i32', opcode)),
  ...named(I32_STORES, (opcode) => store('i32', opcode)),
  eqz: unary('i32', 'i32', 0x45),
  ...named({ ...I32_COMPARES, ...I32_ARITHMETIC, ...I32_BITS }, (opcode) => binary('i32', 'i32', opcode)),
  const: (value) => ({ type: 'i32', code: codeOf('i32', value) }),
};

/** Instructions on float32; comparisons give an i32 of 0 or 1. */
export const f32: Named<typeof F32_COMPARES, Binary<'f32', 'i32'>> &
  Named<typeof F32_BINARY, Binary<'f32', 'f32'>> & {
    readonly const: (value: number) => Value<'f32'>;
    readonly load: Load<'f32'>;
    readonly store: Store<'f32'>;
  } = {
  ...named(F32_COMPARES, (opcode) => binary('f32', 'i32', opcode)),
  ...named(F32_BINARY, (opcode) => binary('f32', 'f32', opcode)),
  const: (value) => ({ type: 'f32', code: codeOf('f32', value) }),
  load: load('f32', 0x2a),
  store: store('f32', 0x38),
};

/** `condition ? a : b`; both are computed. */
export function select<T extends ValueType>(condition: Operand<'i32'>, a: Value<T>, b: Value<T>): Value<T> {
  return { type: a.type, code: [a.code, b.code, codeOf('i32', condition), 0x1b] };
}

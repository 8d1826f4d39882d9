import type { FunctionBody } from '../function-body.ts';
import type { Op } from '../generated/opcodes.ts';
import { expectKind, pair } from '../operand-checks.ts';
import { componentOf } from '../type.ts';
import type { Operand, Value } from '../value.ts';

type Kind = 'int' | 'float' | 'bool';

/** The opcode of an operation for each kind of component that it takes. */
export type Opcodes = Readonly<Partial<Record<Kind, Op>>>;

/** Makes something of each row of a table, by name. */
export function mapRows<Name extends string, Row, T>(
  table: Readonly<Record<Name, Row>>,
  make: (name: Name, row: Row) => T,
): Record<Name, T> {
  const made = Object.entries<Row>(table).map(([name, row]) => [name, make(name as Name, row)]);
  return Object.fromEntries(made) as Record<Name, T>;
}

/** The opcode for a value's components; refuses what the operation does not take. */
export function opcodeFor(body: FunctionBody, value: Value, opcodes: Opcodes, name: string): Op {
  expectKind(body, value, Object.keys(opcodes) as Kind[], name);
  return opcodes[componentOf(value.type).kind as Kind] as Op;
}

/** Operations of two operands of one type, which is that of the result too. */
export function binaryOps<Name extends string>(
  body: FunctionBody,
  table: Readonly<Record<Name, Opcodes>>,
): Record<Name, (a: Operand, b: Operand) => Value> {
  return mapRows(table, (name, opcodes: Opcodes) => (a, b) => {
    const [x, y] = pair(body, a, b, name);
    return body.emit(opcodeFor(body, x, opcodes, name), x.type, x.id, y.id);
  });
}

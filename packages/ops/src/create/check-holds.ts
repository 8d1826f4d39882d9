import type { DType } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { refuse } from '../tensor/errors.ts';

/** @throws {BackendError} INVALID_ARGUMENT for a number that an element of an integer type cannot be */
export function checkHolds(op: string, dtype: DType, value: number): void {
  const { range } = ELEMENT_TYPES[dtype];
  if (range === undefined || (Number.isInteger(value) && value >= range[0] && value <= range[1])) return;
  throw refuse(op, `${String(value)} does not fit ${dtype}, which goes from ${range[0]} to ${range[1]}`);
}

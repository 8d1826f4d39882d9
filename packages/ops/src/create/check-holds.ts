import type { DType } from '@concord/backend-core';
import { refuse } from '../tensor/errors.ts';

const RANGES: Readonly<Partial<Record<DType, readonly [least: number, greatest: number]>>> = {
  i8: [-128, 127],
  u8: [0, 255],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
};

/** @throws {BackendError} INVALID_ARGUMENT for a number that an element of an integer type cannot be */
export function checkHolds(op: string, dtype: DType, value: number): void {
  const range = RANGES[dtype];
  if (range === undefined || (Number.isInteger(value) && value >= range[0] && value <= range[1])) return;
  throw refuse(op, `${String(value)} is no ${dtype}, which goes from ${range[0]} to ${range[1]}`);
}

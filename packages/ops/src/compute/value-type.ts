import type { DType } from '@concord/backend-core';
import type { NumberType } from '@concord/backend-core/kernel';

/** The type in which a kernel computes, for each element type. */
export const TYPE_OF: Readonly<Record<DType, NumberType>> = {
  f32: 'f32',
  f16: 'f32',
  bf16: 'f32',
  i32: 'i32',
  i8: 'i32',
  u32: 'u32',
  u8: 'u32',
};

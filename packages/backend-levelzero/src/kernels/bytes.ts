import type { FunctionBuilder, PointerType, Value } from '@concord/spirv-builder';

/** Memory as bytes: places in it are then sums of 32-bit numbers, with nothing to multiply. */
export function bytesOf(k: FunctionBuilder, pointer: Value): Value {
  return k.bitcast(pointer, k.types.pointer((pointer.type as PointerType).storage, k.types.int(8)));
}

/** A pointer as `like`, to byte `at`: below 2^31, where it has 32 bits, as the index of a pointer has a sign. */
export function pointerAt(k: FunctionBuilder, bytes: Value, at: Value, like: Value): Value {
  return k.bitcast(k.at(bytes, at), like.type);
}

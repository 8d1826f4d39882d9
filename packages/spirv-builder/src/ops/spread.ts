import type { FunctionBody } from '../function-body.ts';
import { Op } from '../generated/opcodes.ts';
import type { VectorType } from '../type.ts';
import type { Value } from '../value.ts';

/** A vector whose components are all `scalar`, a value of their type. */
export function spread(body: FunctionBody, type: VectorType, scalar: Value): Value {
  return body.emit(Op.CompositeConstruct, type, ...Array.from({ length: type.count }, () => scalar.id));
}

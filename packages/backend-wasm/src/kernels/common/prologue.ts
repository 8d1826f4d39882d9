import type { Code, FunctionBody, Local, Value, ValueType } from '../../encoder/index.ts';
import { unsigned } from '../../encoder/numbers.ts';

const LOCAL_SET = 0x21;

/** Values that a function computes where it begins, however late in it they turn out to be wanted: outside of all loops. */
export class Prologue {
  readonly #body: FunctionBody;
  readonly #begin: (number | Code)[] = [];

  /** To be made before anything is put into the body. */
  constructor(body: FunctionBody) {
    this.#body = body;
    body.emit({ type: 'none', code: this.#begin });
  }

  /** Computes a value. It may be of parameters, and of values that were hoisted before. */
  hoist<T extends ValueType>(value: Value<T>): Local<T> {
    const local = this.#body.local(value.type);
    this.#begin.push(value.code, LOCAL_SET, ...unsigned(local.index));
    return local;
  }
}

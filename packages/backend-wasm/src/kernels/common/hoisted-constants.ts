import { madeOnce } from '@concord/kernel';
import { type Code, type FunctionBody, type Local, type Value, type ValueType, i32x4 } from '../../encoder/index.ts';
import { unsigned } from '../../encoder/instruction.ts';

const LOCAL_SET = 0x21;

/** Values that a function computes where it begins, however late in it they turn out to be wanted: outside of all loops. */
export class Prologue {
  readonly #body: FunctionBody;
  readonly #begin: (number | Code)[] = [];

  /** Call it before anything is put into the body. */
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

/** Constants of a function for `WasmArithmetic`, computed where the function begins. */
export class HoistedConstants {
  readonly #prologue: Prologue;
  readonly #constants = new Map<number, Local<'v128'>>();

  /** Call it before anything is put into the body. */
  constructor(body: FunctionBody) {
    this.#prologue = new Prologue(body);
  }

  /** The bits in each component of a vector. */
  constant(bits: number): Local<'v128'> {
    return madeOnce(this.#constants, bits, () => this.#prologue.hoist(i32x4.splat(bits)));
  }
}

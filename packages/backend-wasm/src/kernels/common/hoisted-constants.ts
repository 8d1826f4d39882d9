import { type FunctionBody, i32x4, type Local } from '../../encoder/index.ts';
import { Prologue } from './prologue.ts';

/** Constants of a function for `WasmArithmetic`, computed where the function begins. */
export class HoistedConstants {
  readonly #prologue: Prologue;
  readonly #constants = new Map<number, Local<'v128'>>();

  /** To be made before anything is put into the body. */
  constructor(body: FunctionBody) {
    this.#prologue = new Prologue(body);
  }

  /** The bits in each component of a vector. */
  constant(bits: number): Local<'v128'> {
    let local = this.#constants.get(bits);
    if (local === undefined) {
      local = this.#prologue.hoist(i32x4.splat(bits));
      this.#constants.set(bits, local);
    }
    return local;
  }
}

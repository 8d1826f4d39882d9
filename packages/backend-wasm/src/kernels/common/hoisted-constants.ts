import { type Code, type FunctionBody, i32x4, type Local } from '../../encoder/index.ts';
import { unsigned } from '../../encoder/numbers.ts';
import { constantName } from '../run/words.ts';

const LOCAL_SET = 0x21;

/** Constants of a function for `WasmArithmetic`, computed where the function begins however late they turn out to be wanted. */
export class HoistedConstants {
  readonly #body: FunctionBody;
  readonly #begin: (number | Code)[] = [];
  readonly #vectors = new Map<string, Local<'v128'>>();

  /** To be made before anything is put into the body. */
  constructor(body: FunctionBody) {
    this.#body = body;
    body.emit({ type: 'none', code: this.#begin });
  }

  /** A constant by the name that `constantName` gives it. */
  vector(name: string): Local<'v128'> {
    let local = this.#vectors.get(name);
    if (local === undefined) {
      local = this.#body.local('v128');
      this.#begin.push(
        i32x4.splat(Number(name.slice(constantName(0).length - 1))).code,
        LOCAL_SET,
        ...unsigned(local.index),
      );
      this.#vectors.set(name, local);
    }
    return local;
  }
}

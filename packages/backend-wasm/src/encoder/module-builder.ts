import { flatten, FunctionBody, type FunctionHandle } from './function-body.ts';
import { type Code, type Local, nameBytes, TYPE_BYTE, unsigned, type ValueType } from './instruction.ts';

/** Parameters of a function as locals, by their types. */
export type ParamLocals<P extends readonly ValueType[]> = { readonly [I in keyof P]: Local<P[I]> };

/** The type of a function, and its export name. */
export interface Signature<P extends readonly ValueType[], R extends ValueType | 'none'> {
  readonly params: P;
  /** `'none'` without a result. */
  readonly result: R;
  /** The name under which the module exports it. */
  readonly export?: string;
}

/** Pages of 64 KiB that a memory of 32-bit addresses can have. */
const MAX_PAGES = 65_536;

/** A WebAssembly module that works on an imported memory, `env.memory`. */
export class ModuleBuilder {
  readonly #types: number[][] = [];
  readonly #functions: { readonly type: number; readonly code: Code }[] = [];
  readonly #exports: Code[] = [];
  readonly #shared: boolean;

  /** @param options - `shared`: the memory is shared by threads */
  constructor(options: { readonly shared: boolean }) {
    this.#shared = options.shared;
  }

  /** Adds a function; its body may call those added before. */
  function<const P extends readonly ValueType[], R extends ValueType | 'none'>(
    signature: Signature<P, R>,
    statements: (body: FunctionBody, ...params: ParamLocals<P>) => void,
  ): FunctionHandle<P, R> {
    const { params, result } = signature;
    const body = new FunctionBody(params.length);
    const locals = params.map((type, index) => ({ type, index, code: [0x20, ...unsigned(index)] }));
    statements(body, ...(locals as unknown as ParamLocals<P>));
    const index = this.#functions.push({ type: this.#typeOf(params, result), code: body.encode() }) - 1;
    if (signature.export !== undefined) this.#exports.push([...nameBytes(signature.export), 0x00, ...unsigned(index)]);
    return { index, params, result };
  }

  /** The module. */
  toBytes(): Uint8Array<ArrayBuffer> {
    const shared = this.#shared ? 0x03 : 0x01;
    const memory = [...nameBytes('env'), ...nameBytes('memory'), 0x02, shared, ...unsigned(1), ...unsigned(MAX_PAGES)];
    const bytes: number[] = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
    section(bytes, 1, this.#types);
    section(bytes, 2, [memory]);
    section(
      bytes,
      3,
      this.#functions.map(({ type }) => unsigned(type)),
    );
    section(bytes, 7, this.#exports);
    section(
      bytes,
      10,
      this.#functions.map(({ code }) => code),
    );
    return new Uint8Array(bytes);
  }

  #typeOf(params: readonly ValueType[], result: ValueType | 'none'): number {
    const results = result === 'none' ? [0] : [1, TYPE_BYTE[result]];
    const type = [0x60, ...unsigned(params.length), ...params.map((param) => TYPE_BYTE[param]), ...results];
    const known = this.#types.findIndex((other) => other.join() === type.join());
    return known >= 0 ? known : this.#types.push(type) - 1;
  }
}

function section(bytes: number[], id: number, entries: readonly Code[]): void {
  const content: number[] = [...unsigned(entries.length)];
  flatten(entries, content);
  bytes.push(id, ...unsigned(content.length));
  flatten([content], bytes);
}

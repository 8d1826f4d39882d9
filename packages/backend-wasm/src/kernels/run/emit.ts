import { canContract } from '@concord/kernel';
import { i32, ModuleBuilder, select } from '../../encoder/index.ts';
import { WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import type { WasmCode, WasmTraits } from '../kernel.ts';
import { Cursor } from './cursor.ts';
import { emitMap } from './emit-map.ts';
import { emitRows } from './emit-rows.ts';
import { names, type RunForm } from './form.ts';
import { Words } from './words.ts';

/** A module, and the names of the words that it reads, in their order. */
export interface EmittedRun {
  readonly code: WasmCode;
  readonly words: readonly string[];
}

/** The module of a form. */
export function emitRun(form: RunForm, { isShared, hasFma }: Pick<WasmTraits, 'isShared' | 'hasFma'>): EmittedRun {
  const module = new ModuleBuilder({ shared: isShared });
  let list: readonly string[] = [];
  module.function(
    { params: ['i32', 'i32', 'i32', 'i32'], result: 'none', export: 'run' },
    (body, args, firstTile, endTile, scratch) => {
      const words = new Words(body, args);
      const arithmetic = new WasmArithmetic(body, words, hasFma && canContract(form.kernel));
      const perTile = words.number(names.perTile);
      const items = words.number(names.items);
      const first = body.let(i32.mul(firstTile, perTile));
      const behind = body.let(i32.mul(endTile, perTile));
      const end = body.let(select(i32.ltU(behind, items), behind, items));
      const cursor = new Cursor(body, words, form, scratch);
      (form.kind === 'map' ? emitMap : emitRows)(arithmetic, cursor, { first, end });
      list = words.names;
    },
  );
  return { code: { bytes: module.toBytes() }, words: list };
}

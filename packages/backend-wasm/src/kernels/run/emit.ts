import { canContract, storedNodes, vectorAxis } from '@concord/kernel';
import { ModuleBuilder, i32, select } from '../../encoder/index.ts';
import { WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import type { WasmCode, WasmTraits } from '../kernel.ts';
import { Cursor, type ItemRange } from './cursor.ts';
import { emitRows } from './emit-rows.ts';
import { type RunForm, names } from './form.ts';
import { NodeCode } from './node-code.ts';
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
      const cursor = new Cursor(body, words, form, scratch, isShared);
      (form.kind === 'map' ? emitMap : emitRows)(arithmetic, cursor, { first, end });
      list = words.names;
    },
  );
  return { code: { bytes: module.toBytes() }, words: list };
}

/** Computes each point by itself: an item is a line along the last axis, or a segment of one. */
export function emitMap(a: WasmArithmetic, cursor: Cursor, range: ItemRange): void {
  const { words, form } = cursor;
  const { kernel, stores, units } = form;
  const code = new NodeCode(a, cursor);
  const roots = storedNodes(kernel, stores);
  const last = vectorAxis(form);
  const outer = Array.from({ length: form.rowRank - 1 }, (_, axis) => axis);
  code.compute(roots, 0, 1);
  const inner = form.isSegmented ? words.number(names.segments) : undefined;
  cursor.items(outer, { ...range, isTurned: form.isTurned, inner }, (_, piece) => {
    code.enter(2);
    code.compute(roots, 2, 1);
    const { start, count } = cursor.segment(last, piece);
    cursor.blocks({ start, count, units }, (vectors) => {
      code.enter(3);
      code.compute(roots, 3, vectors);
      code.store(stores, vectors);
    });
  });
}

import { vectorAxis } from '@concord/kernel';
import { i32, type Local, select } from '../../encoder/index.ts';
import type { WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import type { Cursor, ItemRange } from './cursor.ts';
import { names } from './form.ts';
import { NodeCode } from './node-code.ts';

/** Computes each point by itself: an item is a line along the last axis, or a segment of one. */
export function emitMap(a: WasmArithmetic, cursor: Cursor, range: ItemRange): void {
  const { words, form } = cursor;
  const { kernel, stores, units } = form;
  const code = new NodeCode(a, cursor);
  const roots = stores.map((output) => (kernel.outputs[output] as (typeof kernel.outputs)[number]).node);
  const last = vectorAxis(form);
  const outer = Array.from({ length: form.rowRank - 1 }, (_, axis) => axis);
  code.compute(roots, 0, 1);
  const inner = form.isSegmented ? words.number(names.segments) : undefined;
  cursor.items(outer, { ...range, isTurned: form.isTurned, inner }, (_, piece) => {
    code.enter(2);
    code.compute(roots, 2, 1);
    const { start, count } = segmentOf(cursor, last, piece);
    cursor.blocks({ start, count, units }, (vectors) => {
      code.enter(3);
      code.compute(roots, 3, vectors);
      code.store(stores, vectors);
    });
  });
}

/** The start of a piece of a line, and its number of points; without a piece it is the whole line. */
export function segmentOf(
  cursor: Cursor,
  axis: number,
  piece: Local<'i32'> | undefined,
  segmentName: string = names.segment,
): { readonly start: Local<'i32'> | 0; readonly count: Local<'i32'> } {
  if (piece === undefined) return { start: 0, count: cursor.size(axis) };
  const { body, words } = cursor;
  const segment = words.number(segmentName);
  const start = body.let(i32.mul(piece, segment));
  const left = body.let(i32.sub(cursor.size(axis), start));
  return { start, count: body.let(select(i32.ltU(left, segment), left, segment)) };
}

import { i32, memory, ModuleBuilder } from '../../encoder/index.ts';
import type { Command, WasmCode, WasmTraits } from '../kernel.ts';
import { TILE_BYTES } from './tile-bytes.ts';

/** Copies bytes between ranges that do not overlap. Words: to, from, bytes; a tile is {@link TILE_BYTES} of them. */
export function copyCode({ isShared }: WasmTraits): WasmCode {
  const module = new ModuleBuilder({ shared: isShared });
  const params = ['i32', 'i32', 'i32', 'i32'] as const;
  module.function({ params, result: 'none', export: 'run' }, (body, args, first, end) => {
    const start = body.let(i32.mul(first, TILE_BYTES));
    const rest = body.let(i32.sub(i32.load(args, 8), start));
    const wanted = body.let(i32.mul(i32.sub(end, first), TILE_BYTES));
    body.if(i32.ltU(rest, wanted), () => body.set(wanted, rest));
    body.emit(memory.copy(i32.add(i32.load(args), start), i32.add(i32.load(args, 4), start), wanted));
  });
  return { bytes: module.toBytes() };
}

/** A copy of `bytes` > 0 bytes between ranges that do not overlap, by the code of `copyCode`. */
export function copyCommand(code: WasmCode, to: number, from: number, bytes: number): Command {
  return { code, words: [to, from, bytes], tiles: Math.ceil(bytes / TILE_BYTES) };
}

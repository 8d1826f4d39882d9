import { i32, memory, ModuleBuilder } from '../../encoder/index.ts';
import type { Command, WasmCode, WasmTraits } from '../kernel.ts';
import { TILE_BYTES } from './tile-bytes.ts';

/** Sets bytes. Words: to, the byte, bytes; a tile is {@link TILE_BYTES} of them. */
export function fillCode({ isShared }: WasmTraits): WasmCode {
  const module = new ModuleBuilder({ shared: isShared });
  const params = ['i32', 'i32', 'i32', 'i32'] as const;
  module.function({ params, result: 'none', export: 'run' }, (body, args, first, end) => {
    const start = body.let(i32.mul(first, TILE_BYTES));
    const rest = body.let(i32.sub(i32.load(args, 8), start));
    const wanted = body.let(i32.mul(i32.sub(end, first), TILE_BYTES));
    body.if(i32.ltU(rest, wanted), () => body.set(wanted, rest));
    body.emit(memory.fill(i32.add(i32.load(args), start), i32.load(args, 4), wanted));
  });
  return { bytes: module.toBytes() };
}

/** Sets `bytes` > 0 bytes to `byte`, by the code of `fillCode`. */
export function fillCommand(code: WasmCode, to: number, byte: number, bytes: number): Command {
  return { code, words: [to, byte, bytes], tiles: Math.ceil(bytes / TILE_BYTES) };
}

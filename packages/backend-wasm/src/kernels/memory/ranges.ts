import { i32, memory, ModuleBuilder, type Statement, type Value } from '../../encoder/index.ts';
import { codeOfTiles } from '../common/arguments.ts';
import type { Command, WasmCode, WasmTraits } from '../kernel.ts';

/** Bytes of a tile: some 8 microseconds of work. */
const TILE_BYTES = 262_144;

/** Copies bytes between ranges that do not overlap. Words: to, from, bytes; a tile is {@link TILE_BYTES} of them. */
export const copyCode = (traits: WasmTraits): WasmCode =>
  codeOf(traits, (to, from, start, bytes) => memory.copy(to, i32.add(from, start), bytes));

/** Sets bytes. Words: to, the byte, bytes; tiles as those of a copy. */
export const fillCode = (traits: WasmTraits): WasmCode =>
  codeOf(traits, (to, byte, _, bytes) => memory.fill(to, byte, bytes));

/** A copy of `bytes` > 0 bytes between ranges that do not overlap, by the code of `copyCode`. */
export function copyCommand(code: WasmCode, to: number, from: number, bytes: number): Command {
  return { code, args: [to, from, bytes], tiles: Math.ceil(bytes / TILE_BYTES) };
}

/** Sets `bytes` > 0 bytes to `byte`, by the code of `fillCode`. */
export function fillCommand(code: WasmCode, to: number, byte: number, bytes: number): Command {
  return { code, args: [to, byte, bytes], tiles: Math.ceil(bytes / TILE_BYTES) };
}

type Word = Value<'i32'>;

/** @param emit - works on `bytes` bytes from `to` on, which is `start` bytes into the range; `word` is the second word */
function codeOf(
  { isShared }: WasmTraits,
  emit: (to: Word, word: Word, start: Word, bytes: Word) => Statement,
): WasmCode {
  const module = new ModuleBuilder({ shared: isShared });
  return {
    bytes: codeOfTiles(module, (body, args, first, end) => {
      const start = body.let(i32.mul(first, TILE_BYTES));
      const rest = body.let(i32.sub(i32.load(args, 8), start));
      const wanted = body.let(i32.mul(i32.sub(end, first), TILE_BYTES));
      body.if(i32.ltU(rest, wanted), () => body.set(wanted, rest));
      body.emit(emit(i32.add(i32.load(args), start), i32.load(args, 4), start, wanted));
    }),
  };
}

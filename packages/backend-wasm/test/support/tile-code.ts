import { type FunctionBody, type Local, ModuleBuilder } from '../../src/encoder/index.ts';
import type { WasmCode, WasmTraits } from '../../src/kernels/kernel.ts';

/** A kernel that does the same for each of its tiles. */
export function tileCode(
  { isShared }: WasmTraits,
  statements: (body: FunctionBody, args: Local<'i32'>, tile: Local<'i32'>, scratch: Local<'i32'>) => void,
): WasmCode {
  const module = new ModuleBuilder({ shared: isShared });
  const params = ['i32', 'i32', 'i32', 'i32'] as const;
  module.function({ params, result: 'none', export: 'run' }, (body, args, first, end, scratch) => {
    body.for(first, end, 1, (tile) => statements(body, args, tile, scratch));
  });
  return { bytes: module.toBytes() };
}

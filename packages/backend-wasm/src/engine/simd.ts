import { BackendError } from '@concord/backend-core';
import { f32x4, type FunctionBody, type Local, ModuleBuilder } from '../encoder/index.ts';

interface NodeV8 {
  setFlagsFromString(flags: string): void;
}

/**
 * Decides if multiply-adds round once. A single relaxed instruction makes a module invalid if the engine has none.
 *
 * @param isWanted - the option `relaxedSimd`
 * @throws {BackendError} BACKEND_UNAVAILABLE if there is no SIMD, or no relaxed SIMD that was asked for
 */
export function chooseFma(isWanted: boolean | undefined): boolean {
  if (!takes((body, vector) => body.set(vector, f32x4.add(vector, vector)))) {
    throw new BackendError('BACKEND_UNAVAILABLE', 'the engine has no SIMD of WebAssembly', {
      reason: 'wrong-platform',
      hint: 'use a newer engine: Node 20, a browser of 2021 or later',
    });
  }
  if (isWanted === false) return false;
  if (hasRelaxed()) return true;
  if (isWanted !== true) return false;
  nodeV8()?.setFlagsFromString('--experimental-wasm-relaxed-simd');
  if (hasRelaxed()) return true;
  throw new BackendError('BACKEND_UNAVAILABLE', 'the engine has no relaxed SIMD', {
    reason: 'wrong-platform',
    hint: 'leave the option relaxedSimd out, or use a newer engine',
  });
}

/** The reason why multiply-adds do not round once, in a few words. */
export function fmaHint(): string {
  return nodeV8() === undefined ? 'no relaxed SIMD here' : 'the option relaxedSimd switches it on';
}

function hasRelaxed(): boolean {
  return takes((body, vector) => body.set(vector, f32x4.relaxedMadd(vector, vector, vector)));
}

/** True if the engine accepts a function with these statements. */
function takes(statements: (body: FunctionBody, vector: Local<'v128'>) => void): boolean {
  const module = new ModuleBuilder({ shared: false });
  module.function({ params: ['v128'], result: 'none' }, statements);
  return WebAssembly.validate(module.toBytes());
}

function nodeV8(): NodeV8 | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): NodeV8 | undefined } };
  return process?.getBuiltinModule?.('node:v8');
}

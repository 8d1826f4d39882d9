import type { ComputeBackend } from '@concord/backend-core';
import type { LimitCase, Trial } from './limit-case.ts';
import { Workspace } from './workspace.ts';

/** The sum of two arrays of `n`. */
export function add(n: number): LimitCase {
  const place = (backend: ComputeBackend): Trial => {
    const workspace = new Workspace(backend);
    const [a, b] = [workspace.input(n, 1), workspace.input(n, 2)];
    const output = workspace.output(n);
    const call = { op: 'add', n, a: a.ptr, b: b.ptr, output } as const;
    return {
      run: () => backend.binary(call),
      output,
      dtype: 'f32',
      length: n,
      expected: (index) => ({ value: a.at(index) + b.at(index), magnitude: 1 }),
      free: () => workspace.free(),
    };
  };
  return { op: 'binary_add', name: `${n}`, bytes: 12 * n, place };
}

/** A function of an array of `n`. */
export function unary(op: 'exp' | 'tanh', n: number): LimitCase {
  const place = (backend: ComputeBackend): Trial => {
    const workspace = new Workspace(backend);
    const input = workspace.input(n, 1);
    const output = workspace.output(n);
    const call = { op, n, input: input.ptr, output };
    return {
      run: () => backend.unary(call),
      output,
      dtype: 'f32',
      length: n,
      expected: (index) => {
        const value = Math[op](input.at(index));
        return { value, magnitude: Math.abs(value) };
      },
      free: () => workspace.free(),
    };
  };
  return { op: `unary_${op}`, name: `${n}`, bytes: 8 * n, place };
}

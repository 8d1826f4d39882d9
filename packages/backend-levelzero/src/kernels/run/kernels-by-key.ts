import type { Kernel } from '../kernel.ts';
import type { RunForm } from './form.ts';
import { formKey } from './form-name.ts';

/** Kernels that are kept: a program has few, but one that makes ever new graphs should not fill the memory with them. */
const MAX_KEPT = 1024;

/** Makes `define` give the same kernel object for equal parameters, so that built modules are found by it. */
export function kernelsByKey<Params extends { readonly form: RunForm }>(
  define: (params: Params) => Kernel,
): (params: Params) => Kernel {
  const kept = new Map<string, Kernel>();
  return (params) => {
    const key = `${formKey(params.form)} ${JSON.stringify({ ...params, form: undefined })}`;
    const found = kept.get(key);
    if (found !== undefined) return found;
    const [oldest] = kept.keys();
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    const kernel = define(params);
    kept.set(key, kernel);
    return kernel;
  };
}

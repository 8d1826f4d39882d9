import type { Kernel } from '../kernel.ts';
import type { RunForm } from './form.ts';
import { formKey } from './form-name.ts';

/**
 * Makes `define` give the same kernel object for equal parameters, so that built modules are found by it. Kernels are kept for
 * good: each form's words are small, and a device keeps what it built of a kernel until it is closed.
 */
export function kernelsByKey<Params extends { readonly form: RunForm }>(
  define: (params: Params) => Kernel,
): (params: Params) => Kernel {
  const kept = new Map<string, Kernel>();
  return (params) => {
    const key = `${formKey(params.form)} ${JSON.stringify({ ...params, form: undefined })}`;
    const found = kept.get(key);
    if (found !== undefined) return found;
    const kernel = define(params);
    kept.set(key, kernel);
    return kernel;
  };
}

import {
  defineKernel,
  type InputSpecs,
  type Kernel,
  type KernelSpec,
  type ParameterSpecs,
} from '@concord/backend-core/kernel';

/** Kernels by name. */
export type KernelTable = Readonly<Record<string, (name: string) => Kernel>>;

/** `defineKernel` but for the name, which is that of the kernel in its table. */
export function define<const Inputs extends InputSpecs = {}, const Scalars extends ParameterSpecs = {}>(
  spec: KernelSpec<Inputs, Scalars>,
  compute: Parameters<typeof defineKernel<Inputs, Scalars>>[2],
): KernelTable[string] {
  return (name) => defineKernel(name, spec, compute);
}

/** Kernels that were made, by key: each is the same object every time. */
class MadeKernels {
  readonly #made = new Map<string, Kernel>();

  get(key: string, make: () => Kernel): Kernel {
    const found = this.#made.get(key) ?? make();
    this.#made.set(key, found);
    return found;
  }
}

/**
 * Looks kernels up in a table, the same object each time.
 *
 * @param noun - what the table has, for the `RangeError` of a name that it does not have
 */
export function kernelsOf(table: KernelTable, noun = 'kernel'): (name: string) => Kernel {
  const made = new MadeKernels();
  return (name) => {
    const make = Object.hasOwn(table, name) ? table[name] : undefined;
    if (make === undefined) throw new RangeError(`no ${noun} is called "${name}"`);
    return made.get(name, () => make(name));
  };
}

const others = new MadeKernels();

/** The kernel of that key, the same object each time. */
export function remembered(key: string, make: () => Kernel): Kernel {
  return others.get(key, make);
}

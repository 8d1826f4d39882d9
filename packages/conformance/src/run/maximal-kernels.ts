import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';

const LETTERS = 'abcdefghijklmnop'.split('');

/** As many operands and parameters as a kernel may have, and nearly as many nodes: a long chain of wrapping integers. */
export function maximalMap(nodes: number): Kernel {
  const params = Object.fromEntries(LETTERS.map((name) => [`p${name}`, 'u32' as const]));
  const inputs = { a: 'u32', b: 'u32', c: 'u32', d: 'u32' } as const;
  return defineKernel(`${nodes} nodes`, { inputs, params }, (symbols, k) => {
    const scalars = LETTERS.map(
      (name) => (symbols as unknown as Record<string, Value<'u32'>>)[`p${name}`] as Value<'u32'>,
    );
    const values = [symbols.a, symbols.b, symbols.c, symbols.d, ...scalars];
    const chain = mixed(k, values, nodes - values.length);
    return { x: chain.at(-1), y: chain.at(-2), z: chain.at(-3) } as Record<string, Value<'u32'>>;
  });
}

/** The same with six folds that depend on each other. */
export function maximalRows(nodes: number): Kernel {
  const inputs = { a: 'u32', b: 'u32', r: { type: 'u32', level: 'row' } } as const;
  return defineKernel(`${nodes} nodes of rows`, { inputs }, ({ a, b, r }, k) => {
    let values: readonly Value<'u32'>[] = [a, b, r];
    for (const op of ['sum', 'max', 'min', 'product', 'sum', 'max'] as const) {
      values = mixed(k, values, Math.floor((nodes - 16) / 6) - 1).slice(-6);
      values = [...values, k.fold(op, values.at(-1) as Value<'u32'>)];
    }
    const [row, element] = [values.at(-1) as Value<'u32'>, values.at(-2) as Value<'u32'>];
    return { row, y: k.xor(row, element), sum: k.fold('sum', k.add(row, element)), z: k.sub(element, a) };
  });
}

/** `count` nodes more, each of the one before it and of an earlier one, so that none is dropped or merged. */
function mixed(k: KernelBuilder, start: readonly Value<'u32'>[], count: number): Value<'u32'>[] {
  const values = [...start];
  type Op = (a: Value<'u32'>, b: Value<'u32'>) => Value<'u32'>;
  const ops: readonly Op[] = [k.add, k.xor, k.mul, k.sub, k.or, k.rem, k.shr, k.and, k.div, k.max];
  for (let index = 0; index < count; index++) {
    const op = ops[index % (index % 7 === 0 ? 10 : 4)] as Op;
    const other = values[index < start.length ? index : (index * 5) % (values.length - 1)] as Value<'u32'>;
    values.push(op(values.at(-1) as Value<'u32'>, other));
  }
  return values;
}

import { declareKernel } from './declare-kernel.ts';
import { finishKernel } from './finish-kernel.ts';
import type { InputSpec, Kernel } from './graph.ts';
import { replay } from './kernel-json.ts';
import type { NodeValue } from './kernel-symbol.ts';
import { arithmeticNode, spreadNode } from './symbolic-builder.ts';

/** Names of the input that holds C, of the factor and, without an epilogue, of the output. */
const NAMES = { c: 'acc', factor: 'beta of C', output: 'c' };

/** Stands for no epilogue. */
const WITHOUT_EPILOGUE = {};
const made = new WeakMap<object, { reading?: Kernel; writing?: Kernel }>();

/**
 * The rest of a product with k = 0 or alpha = 0: each element is `epilogue(beta C)`.
 *
 * @param epilogue - a kernel of `acc`; undefined: `beta C` itself
 * @param readsC - false: beta is 0, and C is not read
 */
export function scaledKernel(epilogue: Kernel | undefined, readsC: boolean): Kernel {
  const key = epilogue ?? WITHOUT_EPILOGUE;
  let pair = made.get(key);
  if (pair === undefined) {
    pair = {};
    made.set(key, pair);
  }
  return (pair[readsC ? 'reading' : 'writing'] ??= make(epilogue, readsC));
}

function make(epilogue: Kernel | undefined, readsC: boolean): Kernel {
  const others = (epilogue?.inputs ?? []).filter(({ name }) => name !== NAMES.c);
  const declared = [
    ...(readsC ? [[NAMES.c, 'f32'] as const] : []),
    ...others.map(({ name, type }) => [name, type] as const),
  ];
  const params = (epilogue?.params ?? []).map(({ name, type }) => [name, type] as const);
  const factor = freeName([...declared, ...params]);
  const kernel = declareKernel(
    epilogue?.name ?? 'scale',
    Object.fromEntries(declared) satisfies Record<string, InputSpec>,
    Object.fromEntries(readsC ? [...params, [factor, 'f32'] as const] : params),
  );
  const { graph, symbols } = kernel;
  const scaled = readsC
    ? arithmeticNode(graph, 'mul', [symbols[factor], symbols[NAMES.c]])
    : spreadNode(graph, graph.constant('f32', 0));
  const { nodes = [], labels = {}, outputs = [] } = epilogue ?? {};
  const values = replay(graph, { ...symbols, [NAMES.c]: scaled }, nodes, labels);
  const [output] = outputs;
  const stored = output === undefined ? scaled : (values[output.node] as NodeValue);
  return finishKernel(epilogue?.name ?? 'scale', kernel, {
    [output?.name ?? NAMES.output]: stored,
  });
}

/** The factor's name, which must be nothing else's. */
function freeName(taken: readonly (readonly [name: string, type: unknown])[]): string {
  let name = NAMES.factor;
  while (taken.some(([other]) => other === name)) name += "'";
  return name;
}

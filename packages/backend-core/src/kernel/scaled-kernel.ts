import { declareKernel } from './declare-kernel.ts';
import { finishKernel } from './finish-kernel.ts';
import type { InputSpec, Kernel } from './graph.ts';
import type { NodeValue } from './graph-builder.ts';
import { replay } from './kernel-json.ts';
import { arithmeticNode, spreadNode } from './symbolic-builder.ts';

/** Names of the input that holds C, of the factor and, without an epilogue, of the output. */
const NAMES = { c: 'acc', factor: 'beta of C', output: 'c' };

const made = new WeakMap<object, Kernel>();
const WITHOUT_EPILOGUE = { reading: {}, writing: {} };
const keys = new WeakMap<Kernel, typeof WITHOUT_EPILOGUE>();

/**
 * What is left of a product with k = 0 or alpha = 0: each element is `epilogue(beta C)`.
 *
 * @param epilogue - a kernel of `acc`; undefined: `beta C` itself
 * @param readsC - false: beta is 0, and C is not read
 */
export function scaledKernel(epilogue: Kernel | undefined, readsC: boolean): Kernel {
  let pair = WITHOUT_EPILOGUE;
  if (epilogue !== undefined) {
    pair = keys.get(epilogue) ?? { reading: {}, writing: {} };
    keys.set(epilogue, pair);
  }
  const key = readsC ? pair.reading : pair.writing;
  const known = made.get(key);
  if (known !== undefined) return known;
  const kernel = make(epilogue, readsC);
  made.set(key, kernel);
  return kernel;
}

function make(epilogue: Kernel | undefined, readsC: boolean): Kernel {
  const others = (epilogue?.inputs ?? []).filter(({ name }) => name !== NAMES.c);
  const declared = [
    ...(readsC ? [[NAMES.c, 'f32'] as const] : []),
    ...others.map(({ name, type }) => [name, type] as const),
  ];
  const params = (epilogue?.params ?? []).map(({ name, type }) => [name, type] as const);
  const kernel = declareKernel(
    epilogue?.name ?? 'scale',
    Object.fromEntries(declared) satisfies Record<string, InputSpec>,
    Object.fromEntries(readsC ? [...params, [NAMES.factor, 'f32'] as const] : params),
  );
  const { graph, symbols } = kernel;
  const scaled = readsC
    ? arithmeticNode(graph, 'mul', [symbols[NAMES.factor], symbols[NAMES.c]])
    : spreadNode(graph, graph.constant('f32', 0));
  const { nodes = [], labels = {}, outputs = [] } = epilogue ?? {};
  const values = replay(graph, { ...symbols, [NAMES.c]: scaled }, nodes, labels);
  const [output] = outputs;
  const stored = output === undefined ? scaled : (values[output.node] as NodeValue);
  return finishKernel(epilogue?.name ?? 'scale', graph, kernel.inputs, kernel.params, {
    [output?.name ?? NAMES.output]: stored,
  });
}

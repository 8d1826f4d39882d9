import { defineKernel, type Kernel, type StorageBinding } from './kernel.ts';

/** What an element-wise op does to one element, in WGSL. */
export interface ElementFunction {
  /** Declarations that `result` needs, in any order. */
  readonly uses: readonly string[];
  /** Expression for the bits of the result; each input is in scope by its name, as bits. */
  readonly result: string;
  /** It takes longer to compute than to read and write, also on a large GPU. */
  readonly isHeavy?: true;
}

/** How an element-wise kernel goes through memory. */
export interface ElementwiseWay {
  /** Elements that a lane loads and stores at once; with 4 every operand begins at a multiple of 16 bytes. */
  readonly width: 1 | 4;
  /** Vectors that a lane loads before it stores the first; 0: one after the other, in a loop. */
  readonly unroll: 0 | 1 | 2 | 4;
}

/** What the kernels of one element-wise op differ in. */
export interface ElementwiseVariant extends ElementwiseWay {
  /** Inputs that are the output: they are read from its binding and have none of their own. */
  readonly inPlace: readonly string[];
}

/** What {@link elementwiseKernel} makes a kernel of. */
export interface ElementwiseParams extends ElementwiseVariant {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly element: ElementFunction;
}

/** Invocations of a workgroup, and turns of the loop where there is one. */
const LOOP = { size: 256, turns: 4 };
/** With fewer invocations, or more, add and exp are a percent or two slower on an H200. */
const UNROLLED_SIZE = 128;

/** Vectors, or with width 1 elements, that a workgroup works on. */
export function vectorsPerGroup({ unroll }: ElementwiseWay): number {
  return unroll === 0 ? LOOP.size * LOOP.turns : UNROLLED_SIZE * unroll;
}

/**
 * `output[i] = f(inputs[i] ...)` for `u.count` vectors of one or four elements, from vector `u.<operand>_first` of each
 * binding on. Neighbouring lanes take neighbouring vectors, a lane those that lie one group's size apart: one by one in
 * a loop, or with `unroll` all of them at once, so that more loads are on their way. Elements travel as bits (see
 * `float-bits.wgsl.ts`), which costs nothing: loads and stores have no type on a GPU. No invocation touches more than its
 * own elements, so an input may be the output.
 */
export function elementwiseKernel({ name, width, unroll, inPlace, inputs, element }: ElementwiseParams): Kernel {
  const vector = width === 4 ? 'vec4u' : 'u32';
  const bound = inputs.filter((input) => !inPlace.includes(input));
  const binding = (access: StorageBinding['access']): StorageBinding => ({ access, type: `array<${vector}>` });
  const size = unroll === 0 ? LOOP.size : UNROLLED_SIZE;
  const perGroup = vectorsPerGroup({ width, unroll });
  const load = (i: string): string =>
    inputs
      .map((input) => {
        const place = inPlace.includes(input) ? 'output[u.output_first' : `${input}[u.${input}_first`;
        return `let ${input}_${i} = ${place} + ${i}];`;
      })
      .join(' ');
  const apply = (i: string, component: string): string =>
    `apply(${inputs.map((input) => `${input}_${i}${component}`).join(', ')})`;
  const store = (i: string): string => {
    const components = ['.x', '.y', '.z', '.w'].map((component) => apply(i, component));
    return `output[u.output_first + ${i}] = ${width === 4 ? `vec4u(${components.join(', ')})` : apply(i, '')};`;
  };
  const indices = Array.from({ length: unroll }, (_, index) => `i${index}`);
  const wholeGroup = /* wgsl */ `
  if (start + ${perGroup}u <= u.count) {
    ${indices.map((i, index) => `let ${i} = start + lane + ${index * size}u;`).join('\n    ')}
    ${indices.map(load).join('\n    ')}
    ${indices.map(store).join('\n    ')}
    return;
  }`;
  return defineKernel({
    name: [name, unroll === 0 ? vector : `${vector} x${unroll}`, ...inPlace.map((input) => `in ${input}`)].join(' '),
    storage: { ...Object.fromEntries(bound.map((input) => [input, binding('read')])), output: binding('read_write') },
    uniforms: {
      count: 'u32',
      ...Object.fromEntries([...bound, 'output'].map((operand) => [`${operand}_first`, 'u32'] as const)),
    },
    code: /* wgsl */ `
${element.uses.join('\n')}
fn apply(${inputs.map((input) => `${input}: u32`).join(', ')}) -> u32 {
  return ${element.result};
}

@compute @workgroup_size(${size})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let group = group_index(id, grid);
  if (group >= u.group_count) { return; }
  let start = group * ${perGroup}u;${unroll === 0 ? '' : wholeGroup}
  let end = min(u.count, start + ${perGroup}u);
  for (var i = start + lane; i < end; i += ${size}u) {
    ${load('i')}
    ${store('i')}
  }
}`,
  });
}

import type { Operand, RunLayout } from '@concord/backend-core/implement';
import type { Kernel } from '@concord/backend-core/kernel';
import { bytesOf, denseStrides } from '../../../src/run/placement.ts';
import { RIGHT } from '../../naive/parts.ts';
import { inKernel, type Mutant } from '../mutant.ts';
import { type Bug, callMutants, partMutants } from './naive-mutant.ts';

/** Another layout for the operands of a role. */
const laidOut =
  (role: 'input' | 'output', strides: (layout: RunLayout) => readonly number[]): Bug =>
  () => ({ layout: (layout, own) => (own === role ? { ...layout, strides: strides(layout) } : layout) });

const lastOf = (list: readonly number[]): number => list.at(-1) ?? 0;

const BUGS: Readonly<Record<string, Bug>> = {
  'strides of inputs ignored': laidOut('input', ({ shape }) => denseStrides(shape)),
  'strides of outputs ignored': laidOut('output', ({ shape }) => denseStrides(shape)),
  'a repeated axis advanced': laidOut('input', ({ shape, strides }) =>
    strides.map((stride, axis) => (stride === 0 && (shape[axis] as number) > 1 ? 1 : stride)),
  ),
  'a repeated last axis taken for a repeated operand': laidOut('input', ({ shape, strides }) =>
    lastOf(strides) === 0 && lastOf(shape) > 1 ? strides.map(() => 0) : strides,
  ),
  'a last axis of size 1 taken for a repeated operand': laidOut('input', ({ shape, strides, access }) =>
    access === 'element' && lastOf(shape) === 1 ? strides.map(() => 0) : strides,
  ),
  'the stride of an axis of size 1 taken for that of the next': laidOut('input', ({ shape, strides }) =>
    strides.map((stride, axis) => (shape[axis + 1] === 1 && (shape[axis] as number) > 1 ? stride + 1 : stride)),
  ),
  'axes joined where only one operand is dense': laidOut('input', ({ shape, strides, access }) =>
    access === 'element' && shape.length > 2
      ? [...strides.slice(0, -2), lastOf(shape) * lastOf(strides), lastOf(strides)]
      : strides,
  ),
  'axes beyond the fourth dropped': laidOut('input', ({ strides }) =>
    strides.map((stride, axis) => (axis < strides.length - 4 ? 0 : stride)),
  ),
  'rows and columns mixed': laidOut('input', ({ shape, strides, access }) =>
    access === 'element' && shape.length === 2 ? [...strides].reverse() : strides,
  ),
  'strides in bytes of the first byte': laidOut('input', ({ strides, dtype }) =>
    bytesOf(dtype) === 1 ? strides.map((stride) => Math.ceil(stride / 4) * 4) : strides,
  ),
  'an index along the first axis is always 0': () => ({ index: (place, axis) => (axis === 0 ? 0 : place) }),
  'an index along a folded axis counts the row': () => ({
    index: (place, axis, { geometry }) =>
      axis >= geometry.shape.length - geometry.folded && geometry.folded > 1 ? 0 : place,
  }),
  'in place, later outputs read what earlier ones stored': () => ({ recomputed: 'elements' }),
  'in place, folds read what the row has stored': () => ({ recomputed: 'folds' }),
  'float32 stores spill into the next element': () => ({
    write: (view, layout, distance, bits) => {
      RIGHT.write(view, layout, distance, bits);
      if (layout.dtype === 'f32' && 4 * distance + 8 <= view.byteLength) view.setUint32(4 * distance + 4, 0);
    },
  }),
};

const CALLS: Parameters<typeof callMutants>[0] = {
  'the layout of the first call of a kernel and shape kept': () => {
    const known = new Map<string, RunLayout[]>();
    return (call) => {
      const { kernel, shape, folded, inputs } = call.geometry;
      const key = `${kernel.key} ${shape.join()} ${folded}`;
      if (!known.has(key)) known.set(key, [...inputs]);
      return { ...call, geometry: { ...call.geometry, inputs: known.get(key) ?? inputs } };
    };
  },
  'the dtypes of outputs of the first call of a kernel kept': () => {
    const known = new Map<string, RunLayout[]>();
    return (call) => {
      const { kernel, outputs } = call.geometry;
      if (!known.has(kernel.key)) known.set(kernel.key, [...outputs]);
      const kept = outputs.map((layout, at) => ({
        ...layout,
        dtype: known.get(kernel.key)?.[at]?.dtype ?? layout.dtype,
      }));
      return { ...call, geometry: { ...call.geometry, outputs: kept } };
    };
  },
  'the alignment of the first call of a kernel kept': () => {
    const known = new Map<string, number>();
    return (call) => {
      const first = call.outputs[0];
      const { key } = call.geometry.kernel;
      if (first === undefined) return call;
      if (!known.has(key)) known.set(key, first.byteOffset % 16);
      const moved = { ...first, byteOffset: first.byteOffset - (first.byteOffset % 16) + (known.get(key) ?? 0) };
      return { ...call, outputs: [moved, ...call.outputs.slice(1)] };
    };
  },
  'inputs at one address taken for the first of them': () => (call) => ({
    ...call,
    inputs: call.inputs.map((input) => call.inputs.find((other) => other?.buffer === input?.buffer) ?? input),
  }),
  'the inputs of a kernel in another order': () => (call) => {
    const [first, second, ...rest] = call.inputs;
    const [one, two] = call.geometry.inputs;
    const isAlike = one?.dtype === two?.dtype && String(one?.shape) === String(two?.shape);
    return isAlike && call.inputs.length > 2 ? { ...call, inputs: [second, first, ...rest] } : call;
  },
  'a kernel known by its name': () => {
    const known = new Map<string, Kernel>();
    return (call) => {
      const { kernel } = call.geometry;
      const first = known.get(kernel.name) ?? kernel;
      known.set(kernel.name, first);
      const isAlike = first.nodes.length === kernel.nodes.length && first.inputs.length === kernel.inputs.length;
      return isAlike ? { ...call, geometry: { ...call.geometry, kernel: first } } : call;
    };
  },
  'parameters of the first call of a kernel kept': () => {
    const known = new Map<string, readonly number[]>();
    return (call) => {
      const { key } = call.geometry.kernel;
      if (!known.has(key)) known.set(key, call.params);
      return { ...call, params: known.get(key) ?? call.params };
    };
  },
  'parameters in another order': () => (call) => ({ ...call, params: [...call.params].reverse() }),
  'integer parameters through float32': () => (call) => ({ ...call, params: call.params.map(Math.fround) }),
  'NaN as a parameter is 0': () => (call) => ({ ...call, params: call.params.map((x) => (Number.isNaN(x) ? 0 : x)) }),
  'more than 8 parameters dropped': () => (call) => ({ ...call, params: call.params.map((x, at) => (at < 8 ? x : 0)) }),
};

/** In the CPU backend: one number at a time would take minutes over that many. */
const dropping =
  (workgroup: number): Mutant['wrap'] =>
  (backend) =>
    inKernel('run', (call, run) => {
      const kept = call.outputs.map((output) => (output === undefined ? undefined : bytesFrom(output).slice()));
      run(call);
      for (const [at, before] of kept.entries()) {
        const output = call.outputs[at];
        const { dtype = 'f32', extent = 0 } = call.geometry.outputs[at] ?? {};
        const start = 65_535 * workgroup * bytesOf(dtype);
        if (output === undefined || before === undefined || extent * bytesOf(dtype) <= start) continue;
        bytesFrom(output).set(before.subarray(start), start);
      }
    })(backend);

const bytesFrom = ({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const long: readonly Mutant[] = [32, 64].map((workgroup) => ({
  name: `run: elements from the 65,536th workgroup of ${workgroup} on dropped`,
  ops: ['run'],
  within: /^run\/long\//,
  wrap: dropping(workgroup),
}));

/** Bugs of layouts, places and what is kept between calls. */
export const runViewMutants: readonly Mutant[] = [...partMutants(BUGS), ...callMutants(CALLS), ...long];

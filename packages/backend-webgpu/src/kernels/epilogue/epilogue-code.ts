import { vectorAxis } from '@concord/kernel';
import { WgslBlock } from '../arithmetic/wgsl-block.ts';
import type { KernelSource } from '../kernel.ts';
import { GraphScope, NOWHERE, storedBits } from '../run/graph-scope.ts';
import { loadAt, type RawValue } from '../run/operand-code.ts';
import { type OperandSpec, paramUniforms, type RunSpec, storageOf } from '../run/run-spec.ts';
import { epilogueUniforms } from './fused-epilogue.ts';

/** A kernel with the bindings, uniforms and parameters of the epilogue that it applies, if it applies one. */
export function withEpilogue(spec: RunSpec | undefined, source: KernelSource): KernelSource {
  if (spec === undefined) return source;
  return {
    ...source,
    name: `${source.name} ${spec.kernel.name}`,
    storage: { ...source.storage, ...storageOf(spec) },
    uniforms: { ...source.uniforms, ...epilogueUniforms(spec) },
    params: paramUniforms(spec),
  };
}

/** WGSL of an epilogue. */
export interface EpilogueCode {
  /** Lines that read the inputs: they may come before the result is known. */
  readonly loads: string;
  /** Lines that compute it, from `acc`. */
  readonly lines: string;
  /** The bits of what is to be stored, in the dtype of the output. */
  readonly bits: string;
}

/**
 * WGSL: an epilogue.
 *
 * @param acc - the result that it starts from: `spec.width` neighbours
 * @param place - coordinates in the domain, the last one of the first neighbour
 * @param prefix - begins the names of its values
 */
export function epilogueCode(spec: RunSpec, acc: string, place: readonly string[], prefix = 'e'): EpilogueCode {
  const { width } = spec;
  const last = vectorAxis(spec);
  const block = new WgslBlock(prefix);
  const units = place.map((text, axis) => (axis === last && width === 4 ? `(${text} / 4u)` : text));
  const scope = new GraphScope(spec, block, {
    ...NOWHERE,
    load: (input): RawValue => {
      const operand = spec.operands[input] as OperandSpec;
      if (operand.binding < 0) return { text: ACC_BITS, type: 'u32', width };
      return loadAt(block, spec, input, units);
    },
    coordinate: (axis) => {
      const text = place[axis] as string;
      const isVector = axis === last && width === 4;
      return {
        text: isVector ? block.define(`vec4u(${text}) + vec4u(0u, 1u, 2u, 3u)`) : text,
        type: 'u32',
        width: isVector ? 4 : 1,
      };
    },
  });
  scope.preload();
  const loads = block.text();
  block.lines.length = 0;
  block.add(`let ${ACC_BITS} = ${opaqueBits(acc, width)};`);
  const { text, width: own } = storedBits(spec, 0, scope, place.at(-1) as string);
  return { loads, lines: block.text(), bits: own === width ? text : `vec4u(${text})` };
}

/** The name of {@link opaqueBits} of the result. */
const ACC_BITS = 'acc_bits';

/** A result that a compiler does not know the making of: it would regroup it with what comes after. */
function opaqueBits(acc: string, width: 1 | 4): string {
  return width === 1 ? `bitcast<u32>(${acc}) ^ u.zero` : `bitcast<vec4u>(${acc}) ^ vec4u(u.zero)`;
}

import { BYTES_OF, type CheckedEpilogue } from '@concord/backend-core/implement';
import { accessOf } from '@concord/kernel';
import type { UniformType } from '../kernel.ts';
import { apartFrom, bindable } from '../operands.ts';
import type { Recorder, Span } from '../recorder.ts';
import {
  bindingName,
  type BindingSpec,
  elementFor,
  extentAxes,
  extentName,
  offsetName,
  type OperandSpec,
  parameterName,
  type RunSpec,
  strideName,
} from '../run/run-spec.ts';

/** An epilogue that the kernel of a product applies itself, with the memory of its inputs; `acc` has none. */
export interface FusedEpilogue {
  readonly epilogue: CheckedEpilogue;
  readonly inputs: readonly (Span | undefined)[];
}

/** A {@link FusedEpilogue} as one launch has it. */
export interface BoundEpilogue {
  /** The parts that are compiled into the kernel. */
  readonly spec: RunSpec;
  readonly storage: Readonly<Record<string, Span>>;
  readonly uniforms: Readonly<Record<string, number>>;
}

/** The maximum of nodes that are repeated at each place where a kernel stores. */
const MAX_NODES = 32;

/** The epilogue of a call, if it is short and its inputs can be bound beside the output; else undefined. */
export function fusedEpilogue(
  call: { readonly epilogue?: CheckedEpilogue | undefined },
  output: Span,
  recorder: Recorder,
): FusedEpilogue | undefined {
  const { epilogue } = call;
  if (epilogue === undefined || epilogue.kernel.nodes.length > MAX_NODES) return undefined;
  const { maxBindingBytes, storageAlignment } = recorder.traits;
  const operands = call as unknown as Readonly<Record<string, Span | undefined>>;
  const inputs = epilogue.kernel.inputs.map(({ name }) => operands[`epilogue.${name}`]);
  const fits = inputs.every(
    (span) => span === undefined || bindable(span, storageAlignment).span.byteLength <= maxBindingBytes,
  );
  if (!fits) return undefined;
  return { epilogue, inputs: inputs.map((span) => span && apartFrom(output, span, recorder)) };
}

/**
 * Binds the inputs of an epilogue.
 *
 * @param width - neighbours along the last axis that the kernel stores at once
 */
export function bindEpilogue(
  { epilogue: { geometry, params }, inputs }: FusedEpilogue,
  width: 1 | 4,
  storageAlignment: number,
): BoundEpilogue {
  const { kernel, shape } = geometry;
  const axis = shape.length - 1;
  const bindings: BindingSpec[] = [];
  const storage: Record<string, Span> = {};
  const uniforms: Record<string, number> = {};
  const operands = [...geometry.inputs, ...geometry.outputs].map(({ type, dtype, strides }, index): OperandSpec => {
    const memory = inputs[index];
    if (memory === undefined) return { type, dtype, level: 'element', access: 'vector', binding: -1 };
    const { span, byteOffset } = bindable(memory, storageAlignment);
    const offset = byteOffset / BYTES_OF[dtype];
    const access = accessOf({ strides, axis, width, offset });
    const binding = bindings.length;
    bindings.push({ element: elementFor({ dtype, access: 'element' }, access, false), isWritten: false });
    storage[bindingName(binding)] = span;
    const unit = access === 'vector' ? width : 1;
    uniforms[offsetName(index)] = offset / unit;
    for (const [at, stride] of strides.entries())
      uniforms[strideName(index, at)] = at === axis ? stride : stride / unit;
    return { type, dtype, level: 'element', access, binding };
  });
  const rank = shape.length;
  for (const own of extentAxes({ kernel, rank })) uniforms[extentName(own)] = shape[own] as number;
  // Shapes are planned without parameters; those of the call come with the call.
  for (const index of kernel.params.keys()) uniforms[parameterName(index)] = params[index] ?? 0;
  const places = shape.map((_, at) => [at, at] as const);
  const ranks = { rank, unfolded: rank, rowRank: rank, foldedRank: 0, along: 'rows' } as const;
  return { spec: { kernel, ...ranks, width, operands, bindings, places }, storage, uniforms };
}

/** The uniforms of a {@link BoundEpilogue} but its parameters. */
export function epilogueUniforms({ kernel, operands, rank }: RunSpec): Record<string, UniformType> {
  const names = extentAxes({ kernel, rank }).map(extentName);
  for (const [index, { binding }] of operands.entries()) {
    if (binding < 0) continue;
    names.push(offsetName(index), ...Array.from({ length: rank }, (_, axis) => strideName(index, axis)));
  }
  return Object.fromEntries(names.map((name) => [name, 'u32'] as const));
}

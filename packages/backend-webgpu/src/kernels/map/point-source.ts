import type { WgslBlock } from '../arithmetic/wgsl-block.ts';
import type { WgslValue } from '../arithmetic/wgsl-value.ts';
import { addressOf } from '../run/address.ts';
import type { PointSource } from '../run/graph-scope.ts';
import { loadRaw } from '../run/operand-access.ts';
import type { BindingSpec, OperandSpec } from '../run/operand-spec.ts';
import { type RunSpec, startName } from '../run/run-spec.ts';

const nothing = (): never => {
  throw new Error('a value of the call belongs to no point');
};

/** The point of the call's own values: nothing that belongs to a point. */
export const NOWHERE: PointSource = { load: nothing, coordinate: nothing, fold: nothing };

/** A point of a map at some coordinates, along the vector axis in vectors. */
export function pointSource(spec: RunSpec, block: WgslBlock, coordinates: readonly string[]): PointSource {
  return {
    ...NOWHERE,
    load: (input) => {
      const operand = spec.operands[input] as OperandSpec;
      const { place, step } = addressOf(spec, input, coordinates);
      return loadRaw(block, operand, spec.bindings[operand.binding] as BindingSpec, place, spec.width, step);
    },
    coordinate: (place): WgslValue => {
      const start = `u.${startName(place)}`;
      const isVector = place === spec.vectorAxis && spec.width === 4;
      const text = isVector
        ? `vec4u(${coordinates[place]} * 4u + ${start}) + vec4u(0u, 1u, 2u, 3u)`
        : `${coordinates[place]} + ${start}`;
      return { text: block.define(text), type: 'u32', width: isVector ? 4 : 1 };
    },
  };
}

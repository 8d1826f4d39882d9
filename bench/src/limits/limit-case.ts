import type { ComputeBackend, DevicePtr, FloatDType } from '@concord/backend-core';
import type { Work } from '../work.ts';
import { type NoiseArray, noiseArray } from './noise-array.ts';
import { Workspace } from './workspace.ts';

/** What an entry of a result should be, in float64. */
export interface Expected {
  readonly value: number;
  /** Sum of the magnitudes of its terms, which rounding errors are measured by. 0 wants the value itself. */
  readonly magnitude: number;
}

/** A case on a device, ready to run. */
export interface Trial {
  /** Queues one call. */
  run(): void;
  readonly output: DevicePtr;
  readonly dtype: FloatDType;
  readonly length: number;
  /** Entry `index` of the output. */
  expected(index: number): Expected;
  free(): void;
}

/** The inputs of a case, as many as its `inputs` tells. */
export type Operands<T> = readonly [T, T, T];

/** An op with its sizes: what it reads and writes, what comes out, and the call that does it on our backends. */
export interface CaseDefinition {
  readonly work: Work;
  readonly name: string;
  /** Multiplications and additions, or else bytes read and written, by which the speed is told. */
  readonly flops?: number;
  readonly bytes?: number;
  /** Of all operands. Default: f32. */
  readonly dtype?: FloatDType;
  /** Elements of each input. */
  readonly inputs: readonly number[];
  /** Elements of the output. */
  readonly length: number;
  expected(inputs: Operands<NoiseArray>, index: number): Expected;
  call(backend: ComputeBackend, inputs: Operands<DevicePtr>, output: DevicePtr): void;
}

/** A case, by the names that the other side of the comparison gives it too. */
export interface LimitCase extends CaseDefinition {
  readonly op: Work['op'];
  readonly dtype: FloatDType;
  /** The inputs on the host. */
  operands(): Operands<NoiseArray>;
  /** Makes the operands on a device. */
  place(backend: ComputeBackend): Trial;
}

/** Adds what follows from a definition. */
export function defineCase(definition: CaseDefinition): LimitCase {
  const { dtype = 'f32', length } = definition;
  const operands = (): Operands<NoiseArray> =>
    definition.inputs.map((size, i) => noiseArray(size, i + 1, dtype)) as unknown as Operands<NoiseArray>;
  const place = (backend: ComputeBackend): Trial => {
    const workspace = new Workspace(backend);
    const arrays = operands();
    const inputs = arrays.map((array) => workspace.input(array)) as unknown as Operands<DevicePtr>;
    const output = workspace.output(length, dtype);
    return {
      run: () => definition.call(backend, inputs, output),
      output,
      dtype,
      length,
      expected: (index) => definition.expected(arrays, index),
      free: () => workspace.free(),
    };
  };
  return { ...definition, op: definition.work.op, dtype, operands, place };
}

import { CpuBackend } from '@concord/backend-cpu';
import * as ops from '@concord/ops';
import { sum, tensor, type Tensor } from '@concord/ops';
import { expect, test } from 'vitest';
import { grad } from '../src/index.ts';
import { CASES } from './support/cases.ts';

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Functions whose results are integers, truths or random, or steps of their operands: constant piece by piece. */
const CONSTANT = words(`
  equal greater greaterEqual less lessEqual notEqual isFinite isNan logicalAnd logicalNot logicalOr logicalXor all
  any argmax argmin countNonzero oneHot argsort ceil floor round sign trunc quantize quantizeWeight concatWeights
  rem randomNormal randomUniform viewAs
`);
/** Functions that make tensors of numbers of the host, or compute nothing. */
const NOTHING = words(`
  arange full ones zeros empty tensor wrap print tidy memory record Tensor QuantizedTensor quantizedTensor fromGguf
  fromMatMulNBits loadSafetensors readSafetensors writeSafetensors readBytes byteSource pageCache
`);

test('each function of ops has a gradient, or is known to have none', () => {
  const known = new Set([...CASES.map(({ name }) => name.split(' ')[0]), ...CONSTANT, ...NOTHING]);
  expect(Object.keys(ops).filter((name) => !known.has(name))).toEqual([]);
  expect([...CONSTANT, ...NOTHING].filter((name) => !(name in ops))).toEqual([]);
});

test('what is constant piece by piece has gradient 0', async () => {
  const backend = await CpuBackend.create();
  const x = tensor(backend, [0.3, -1.7]);
  const functions = ops as unknown as Record<string, (x: Tensor, other?: unknown) => Tensor>;
  for (const name of words('ceil floor round sign trunc isNan argmax any argsort countNonzero logicalNot')) {
    const gradient = grad((x: Tensor) => sum(ops.cast(functions[name]?.(x) as Tensor, 'f32')))(x);
    expect([...(await gradient.toArray())], name).toEqual([0, 0]);
  }
  await backend.dispose();
});

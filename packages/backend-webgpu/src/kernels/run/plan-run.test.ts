import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { expect, it } from 'vitest';
import { fakeBuffer } from '../../../test/support/plan-recorder.ts';
import { plannedRun } from '../../../test/support/planned-run.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';

/** As many operands and parameters as there may be, and every index and size of eight axes. */
function mostUniforms(hasFolds: boolean): Kernel {
  const inputs = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`x${n}`, 'f32' as const]));
  const params = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`p${n}`, 'f32' as const]));
  return defineKernel('mostUniforms', { inputs, params }, (given, k: KernelBuilder) => {
    let sum: Value<'f32'> = k.f32(0);
    for (const value of Object.values(given as Record<string, Value<'f32'>>)) sum = k.add(sum, value);
    for (let axis = 0; axis < 8; axis++) {
      sum = k.add(sum, k.toF32(k.add(k.index(axis), k.add(k.extent(axis), k.extent(axis - 8)))));
    }
    return { y: hasFolds ? k.add(sum, k.add(k.fold('mean', sum), k.toF32(k.fold('argmax', sum)))) : sum };
  });
}

const [folding, mapping] = [mostUniforms(true), mostUniforms(false)];

it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('the uniforms of rank 8 fit, %d folded', (folded) => {
  const shape = [2, 3, 2, 3, 2, 3, 2, 3];
  const inputs = Object.fromEntries(
    folding.inputs.map(({ name }, n) => [name, { strides: shape.map((_, a) => a + n) }]),
  );
  for (const traits of Object.values(TEST_DEVICES)) {
    const [kernel, more] = folded === 0 ? [mapping, {}] : [folding, { folded }];
    expect(() => plannedRun(kernel, { shape, ...more, inputs }, traits)).not.toThrow();
  }
});

const lookUp = defineKernel(
  'lookUp',
  { inputs: { table: { type: 'i32', access: 'gather', rank: 1 }, x: 'i32' } },
  ({ table, x }, k) => ({ y: k.add(x, k.gather(table, [k.index(-1)], 0)) }),
);

it('a table in the buffer of the output is copied once, and nothing for a piece that does not fit', () => {
  const [tableBytes, bytes] = [2 ** 22, 2 ** 26];
  const buffer = fakeBuffer(tableBytes + 2 * bytes);
  const memory = [
    { buffer, byteOffset: 0, byteLength: tableBytes },
    { buffer, byteOffset: tableBytes, byteLength: bytes },
    { buffer, byteOffset: tableBytes + bytes, byteLength: bytes },
  ];
  const asked = { shape: [bytes / 4], inputs: { table: { shape: [tableBytes / 4] } }, memory };
  const { launches, copies } = plannedRun(lookUp, asked, { ...TEST_DEVICES.defaults, maxBindingBytes: tableBytes });
  expect(launches).toHaveLength(16);
  expect(copies.filter(({ src }) => src.byteOffset === 0)).toHaveLength(1);
  expect(copies.reduce((sum, { src }) => sum + src.byteLength, 0)).toBe(tableBytes + bytes);
});

it('a table of more elements than addresses reach is refused', () => {
  const asked = (length: number) => ({ shape: [64], inputs: { table: { shape: [length], dtype: 'i8' as const } } });
  expect(plannedRun(lookUp, asked(2 ** 32 - 1), TEST_DEVICES.gpu).launches).toHaveLength(1);
  expect(() =>
    plannedRun(
      lookUp,
      { ...asked(2 ** 31), inputs: { table: { shape: [2 ** 31], dtype: 'i8', strides: [3] } } },
      TEST_DEVICES.gpu,
    ),
  ).toThrow('exceeds what can be bound');
});

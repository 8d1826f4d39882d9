import { expect, it } from 'vitest';
import { defineKernel, uniformBytes, uniformWords } from './kernel.ts';

const kernelOf = (type: string) =>
  defineKernel({
    name: 'test',
    storage: { x: { access: 'read_write', type } },
    uniforms: { count: 'u32', factor: 'f32' },
    code: '@compute @workgroup_size(1) fn main() {}',
  });

it.each([
  ['array<f32>', 4],
  ['array<u32>', 4],
  ['array<f16>', 2],
  ['array<vec2u>', 8],
  ['array<vec3f>', 16],
  ['array<vec4f>', 16],
  ['array<vec4h>', 8],
  ['array<vec4<f16>>', 8],
  ['array< vec4<u32> >', 16],
  ['array<Particle>', undefined],
  ['buffer<64>', undefined],
])('one element of %s is the least that may be bound: %s bytes', (type, minBytes) => {
  expect(kernelOf(type).storage).toEqual([
    { name: 'x', access: 'read_write', ...(minBytes === undefined ? {} : { minBytes }) },
  ]);
});

it("fills in the launch, a zero, and the kernel's own uniforms", () => {
  const kernel = kernelOf('array<f32>');
  const words = uniformWords(kernel, 7, 9, { count: 5, factor: 0.5 });
  expect([...words]).toEqual([7, 9, 0, 5, 0x3f000000]);
  expect(uniformBytes(kernel)).toBe(words.byteLength);
  expect(kernel.code).toMatch(/first_group: u32,\s+group_count: u32,\s+zero: u32,\s+count: u32,\s+factor: f32,/);
});

import { defineKernel, type Kernel } from '../kernel.ts';
import { featuresFor, toF16 } from './storage-formats.ts';

/** Vectors of four that {@link f16RoundTrip} takes. */
export const ROUND_TRIP_VECTORS = 8;

/** Rounds float32 to `f16` as the products do, and widens it again: what has to work before `f16` is relied on. */
export const f16RoundTrip: Kernel = defineKernel({
  name: 'gemm/f16-round-trip',
  storage: {
    x: { access: 'read', type: 'array<vec4f>' },
    halves: { access: 'read_write', type: 'array<vec4<f16>>' },
    widened: { access: 'read_write', type: 'array<vec4f>' },
  },
  uniforms: {},
  features: featuresFor('f16'),
  code: /* wgsl */ `
${toF16(true)}

@compute @workgroup_size(${ROUND_TRIP_VECTORS})
fn main(@builtin(local_invocation_index) lane: u32) {
  halves[lane] = to_f16(x[lane]);
  widened[lane] = vec4f(halves[lane]);
}`,
});

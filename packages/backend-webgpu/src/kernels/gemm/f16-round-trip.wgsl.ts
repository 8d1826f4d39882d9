import { defineKernel, type Kernel } from '../kernel.ts';
import type { KernelTable } from './family.ts';
import { featuresFor, outputType, TO_F16 } from './storage-formats.ts';

/** Numbers that {@link f16RoundTrip} takes. */
export const ROUND_TRIP_NUMBERS = 32;

/** Rounds float32 to `f16` as the products do, and widens it again: what has to work before `f16` is relied on. */
export const f16RoundTrip: Kernel = defineKernel({
  name: 'gemm/f16-round-trip',
  storage: {
    x: { access: 'read', type: 'array<f32>' },
    halves: { access: 'read_write', type: outputType('f16', false) },
    widened: { access: 'read_write', type: 'array<f32>' },
  },
  uniforms: {},
  features: featuresFor('f16', false),
  code: /* wgsl */ `
${TO_F16}

@compute @workgroup_size(${ROUND_TRIP_NUMBERS})
fn main(@builtin(local_invocation_index) lane: u32) {
  halves[lane] = to_f16(x[lane]);
  widened[lane] = f32(halves[lane]);
}`,
});

/** {@link f16RoundTrip}, where there is `f16`. */
export const f16RoundTripTable: KernelTable = {
  ids: [],
  kernelsFor: ({ hasF16 }) => (hasF16 ? [f16RoundTrip] : []),
};

import { type ComputeBackend, NULL_PTR } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { compareAll } from '../../checks/compare.ts';
import type { ConformanceCase } from '../../harness/case.ts';
import { Workspace } from '../../harness/workspace.ts';

/** Exponents of the angles: `docs/numerics.md` bounds sin and cos below 2^24. */
const EXPONENTS = Array.from({ length: 13 }, (_, index) => index + 11);
const POINTS_EACH = 512;

const WAVES = defineKernel('waves', { inputs: { x: 'f32' } }, ({ x }, k) => ({ sines: k.sin(x), cosines: k.cos(x) }));

const SHAPE = [POINTS_EACH * EXPONENTS.length];

function callWaves(backend: ComputeBackend, x = NULL_PTR, sines = NULL_PTR, cosines = NULL_PTR): void {
  backend.run(WAVES, { shape: SHAPE, inputs: { x }, outputs: { sines, cosines } });
}

/** The float32 so many places after a positive one. */
function after(x: number, places: number): number {
  const bits = new Uint32Array(Float32Array.of(x).buffer);
  bits[0] = (bits[0] as number) + places;
  return new Float32Array(bits.buffer)[0] as number;
}

/** Angles around a power of two, over its binade, and beside multiples of pi/2 in it; the signs alternate. */
function anglesFrom(exponent: number): readonly number[] {
  const least = 2 ** exponent;
  return Array.from({ length: POINTS_EACH }, (_, index) => {
    const share = index / POINTS_EACH;
    const quarters = Math.ceil((least * (1 + share)) / (Math.PI / 2));
    const ways = [
      () => after(least, (index >> 2) - (exponent === 11 ? 0 : 32)),
      () => Math.fround(least * (1 + share)),
      () => after(2 * least, -1 - (index >> 2)),
      () => after(Math.fround((quarters * Math.PI) / 2), ((index >> 2) % 5) - 2),
    ] as const;
    const x = Math.min((ways[index % 4] as () => number)(), 2 ** 24 - 1);
    return (index >> 3) % 2 === 0 ? x : -x;
  });
}

/** sin and cos over all that is promised of them. */
export const largeAngleCases: readonly ConformanceCase[] = [
  {
    id: 'run/large-angles/sin and cos',
    op: 'run',
    params: {},
    needs: { op: 'run', dtype: 'f32', shape: { kernel: WAVES, shape: SHAPE }, call: (backend) => callWaves(backend) },
    about: () => ({
      does: 'Computes sines and cosines of angles from 2^11 to 2^24, many of them beside powers of two and multiples of pi/2.',
      kind: 'function accuracy',
      passes: 'Each is within the bound of docs/numerics.md.',
      bound: { formula: '(4 + |x| / 1024) u, and the rounding of the result', where: { u: '2^-23' } },
    }),
    run: async ({ backend }) => {
      const angles = Float32Array.from(EXPONENTS.flatMap(anglesFrom));
      const workspace = new Workspace(backend);
      const x = workspace.input(angles);
      const [sines, cosines] = [workspace.output(angles.length), workspace.output(angles.length)];
      await workspace.run(() => callWaves(backend, x.ptr, sines.ptr, cosines.ptr));
      const bound = (index: number): number => (4.5 + Math.abs(angles[index] as number) / 1024) * 2 ** -23;
      compareAll('sines', sines.values(), angles.map(Math.sin), { bound });
      compareAll('cosines', cosines.values(), angles.map(Math.cos), { bound });
    },
  },
];

import { expect, it } from 'vitest';
import type { Kernel } from '@concord/backend-core/kernel';
import { double, GEOMETRIES, places, softmax } from './support/run-kernels.ts';
import { plannedRun } from './support/planned-run.ts';
import { TEST_DEVICES } from './support/traits.ts';

// What a program compiles: few pipelines a kernel, whatever the sizes.

/** Of a map; of rows there are as many classes, by vectors and by elements, each one or in stages. */
const MOST = { map: 24, rows: 24 };

function pipelines(kernel: Kernel, shapes: readonly { readonly shape: readonly number[]; readonly folded?: number }[]) {
  const made = new Set<string>();
  for (const { shape, folded } of shapes) {
    const asked = { shape, ...(folded === undefined ? {} : { folded }) };
    for (const launch of plannedRun(kernel, asked, TEST_DEVICES.gpu).launches) made.add(launch.kernel.code);
  }
  return made.size;
}

const sizes = Array.from({ length: 400 }, (_, i) => Math.ceil(1.04 ** i));

it.each([softmax, places])('$name of rows of 400 lengths', (kernel) => {
  const shapes = sizes.map((length, i) => ({ shape: [1 + ((i * 37) % 900), length], folded: 1 }));
  expect(pipelines(kernel, shapes)).toBeLessThanOrEqual(MOST.rows);
});

it('a map over 400 shapes', () => {
  const shapes = sizes.map((size, i) => ({ shape: [1 + (i % 7), 1 + ((i * 37) % 90), size] }));
  expect(pipelines(double, shapes)).toBeLessThanOrEqual(MOST.map);
});

it('a map over all kinds of views', () => {
  const made = new Set<string>();
  for (const asked of GEOMETRIES) {
    for (const { kernel } of plannedRun(double, asked, TEST_DEVICES.gpu).launches) made.add(kernel.code);
  }
  expect(made.size).toBeLessThanOrEqual(MOST.map);
});

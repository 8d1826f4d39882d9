import { checkedRun, defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { expect, it } from 'vitest';
import type { OutputIntervals } from './run-data.ts';
import { runReference } from './run-reference.ts';

const COLUMNS = 1024;

const softmax = defineKernel('softmax', { inputs: { x: 'f32' } }, ({ x }, k) => {
  const e = k.exp(k.sub(x, k.fold('max', x)));
  return { y: k.div(e, k.fold('sum', e)) };
});

const layerNorm = defineKernel('layerNorm', { inputs: { x: 'f32' } }, ({ x }, k) => {
  const centred = k.sub(x, k.fold('mean', x));
  return { y: k.mul(centred, k.rsqrt(k.add(k.fold('mean', k.mul(centred, centred)), 1e-5))) };
});

function ofRows(kernel: Kernel): OutputIntervals {
  // Weyl's sequence: evenly spread, and no pattern that a sum could cancel by.
  const x = Float32Array.from({ length: 3 * COLUMNS }, (_, index) => 6 * ((index * 0.618_033_988_749_895) % 1) - 3);
  const geometry = checkedRun(kernel, { shape: [3, COLUMNS], folded: 1, inputs: {}, outputs: {} });
  const [y] = runReference(geometry, { inputs: { x } });
  return y as OutputIntervals;
}

const magnitudeOf = ({ lo, hi }: OutputIntervals): number =>
  lo.reduce((most, value, i) => Math.max(most, Math.min(Math.abs(value), Math.abs(hi[i] as number))), 0);
const halfWidths = ({ lo, hi }: OutputIntervals): Float64Array => lo.map((value, i) => ((hi[i] as number) - value) / 2);

it('a softmax of 1,024 columns is known to 1.2e-4 of itself', () => {
  const y = ofRows(softmax);
  const relative = halfWidths(y).map((width, i) => width / (y.lo[i] as number));
  expect(Math.max(...relative)).toBeLessThan(1.3e-4);
  expect(Math.max(...relative)).toBeGreaterThan(1.2e-4);
  expect(y.uselessShare).toBe(0);
});

it('layerNorm of 1,024 columns is known to 4e-4 of its largest value', () => {
  const y = ofRows(layerNorm);
  const width = 2 * Math.max(...halfWidths(y));
  expect(width / magnitudeOf(y)).toBeLessThan(5e-4);
  expect(y.uselessShare).toBe(0);
});

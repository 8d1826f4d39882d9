import { offsetPtr, upload } from '@concord/backend-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebGpuBackend } from '../webgpu-backend.ts';
import { VARIANT_IDS } from './elementwise.ts';

// Which variant runs depends on the device and on the function. Here each runs on the device at hand, whatever that is,
// and must give what an element by itself gives.

const backend = new WebGpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

/** Values of every size, the special ones among them. */
function values(n: number, seed: number): Float32Array {
  const special = [Number.NaN, Infinity, -Infinity, 0, -0, 1, -1, 88.8, -104, 1e-3];
  return Float32Array.from({ length: n }, (_, i) => {
    const bits = Math.imul(i + seed, 0x9e3779b1) >>> 0;
    return bits % 16 < special.length ? (special[bits % 16] as number) : (bits / 2 ** 31 - 1) * 2 ** (bits % 8);
  });
}

/** One lane, part of a group, a group to the last element, several with a part of one behind them; one by one. */
const SIZES = [4, 700, 1024, 2048, 3 * 2048 + 12, 1023];

async function run(
  op: 'exp' | 'gelu' | 'pow' | 'max',
  n: number,
  place: 'apart' | 'over' | 'shifted',
): Promise<Uint32Array> {
  const shift = place === 'shifted' ? 4 : 0;
  const [a, b] = [upload(backend, values(n + 1, 1)), upload(backend, values(n + 1, 7))];
  const output = place === 'over' ? a : backend.alloc(4 * (n + 1));
  const [x, y, to] = [a, b, output].map((ptr) => offsetPtr(ptr, shift)) as [typeof a, typeof a, typeof a];
  if (op === 'exp' || op === 'gelu') backend.unary({ op, n, input: x, output: to });
  else backend.binary({ op, n, a: x, b: y, output: to });
  const got = new Uint32Array(n);
  await backend.copyDtoh(got, to);
  for (const ptr of new Set([a, b, output])) backend.free(ptr);
  return got;
}

describe.each(VARIANT_IDS.filter((id) => id !== 'elementwise/scalar'))('%s', (id) => {
  it.each(['exp', 'gelu', 'pow', 'max'] as const)('%s', async (op) => {
    for (const n of SIZES) {
      for (const place of ['apart', 'over', 'shifted'] as const) {
        backend.native.tuning.force(['elementwise/scalar']);
        const wanted = await run(op, n, place);
        backend.native.tuning.force([id]);
        const before = backend.variants().runs[id] ?? 0;
        expect(await run(op, n, place), `${n} ${place}`).toEqual(wanted);
        const canRun = place !== 'shifted' && n % 4 === 0;
        expect((backend.variants().runs[id] ?? 0) - before).toBe(canRun ? 1 : 0);
      }
    }
  });
});

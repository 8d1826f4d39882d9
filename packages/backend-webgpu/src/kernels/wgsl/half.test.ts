import { f32ToF16Bits } from '@concord/backend-core';
import { expect, it } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import { tryDevice } from '../../trials.ts';
import { defineKernel } from '../kernel.ts';
import { halfBitsOfFour, withPackedHalves } from './half.wgsl.ts';

const client = opened(() => WebGpuClient.open());

const round = defineKernel({
  name: 'test/half',
  storage: { x: { access: 'read', type: 'array<vec4f>' }, y: { access: 'read_write', type: 'array<vec4u>' } },
  uniforms: {},
  code: `
${halfBitsOfFour}
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) grid: vec3u) {
  let i = group_index(id, grid);
  if (i >= u.group_count) { return; }
  y[i] = half_bits_of_four(x[i], u.zero);
}`,
});

/** Each bit pattern around the places where rounding changes: neighbours and middles of binary16, its smallest and largest. */
function patterns(): Uint32Array {
  const nearby = [-0x1001, -0x1000, -0xfff, -1, 0, 1, 0xfff, 0x1000, 0x1001];
  const exponents = Array.from({ length: 256 }, (_, exponent) => exponent << 23);
  const some = [...exponents, 0x477fe000, 0x477ff000, 0x38800000, 0x387fe000, 0x33000000, 0x33800000];
  const positive = some.flatMap((bits) => nearby.map((step) => (bits + step) & 0x7fffffff));
  const random = Array.from({ length: 4096 }, (_, i) => 0x38000000 + (Math.imul(i + 1, 0x9e3779b1) >>> 4));
  return Uint32Array.from([...positive, ...random].flatMap((bits) => [bits, bits | 0x80000000]));
}

const packed = { ...round, name: 'test/packed half', code: withPackedHalves(round.code) };

it.each([round, packed])('$name rounds four numbers as one', async (kernel) => {
  const all = patterns();
  // Alike, and one in another range than the rest.
  const rows = [...all].flatMap((bits, i) => [bits, bits, 0x3f800000, all[(i * 7) % all.length] as number]);
  const words = Uint32Array.from(rows);
  const place = () => ({ buffer: client.allocate(words.byteLength), byteOffset: 0, byteLength: words.byteLength });
  const [x, y] = [place(), place()];
  client.write(x, new Uint8Array(words.buffer));
  client.record('half', (recorder) => {
    recorder.launch({ kernel, storage: { x, y }, uniforms: {}, groups: words.length / 4 });
  });
  let got = new Uint32Array();
  await client.read(y, (bytes) => {
    got = new Uint32Array(bytes.slice().buffer);
  });
  const isNaNBits = (bits: number): boolean => (bits & 0x7fff) > 0x7c00;
  const floats = new Float32Array(words.buffer);
  const wrong = [...words].flatMap((bits, i) => {
    const want = (bits & 0x7fffffff) > 0x7f800000 ? NaN : f32ToF16Bits(floats[i] as number);
    const isRight = Number.isNaN(want) ? isNaNBits(got[i] as number) : got[i] === want;
    return isRight ? [] : [{ bits: bits.toString(16), got: got[i], want }];
  });
  expect(wrong.slice(0, 3)).toEqual([]);
});

it('is packed where a trial finds that right, which it is on the devices of the suite', async () => {
  expect(packed.code).not.toContain('magnitude');
  expect((await tryDevice(client, {})).packing).toBeUndefined();
});

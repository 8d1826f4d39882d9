import type { ResolvedConv2d } from '@concord/backend-core/implement';
import { checkedRun, defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { conv2dReference } from '@concord/backend-cpu/reference';
import { expect, it } from 'vitest';
import { type Conv2dCase, conv2dCall, integers } from '../../../../backend-cpu/test/op-memory.ts';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { download, pretending, upload } from '../../../test/support/device-values.ts';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import type { StorageBuffer } from '../recorder.ts';
import { planConv2d } from './plan.ts';

// Each variant with an epilogue that depends on the place, on the device at hand, whatever that would choose.

const client = opened(() => WebGpuClient.open());

const ofPlace = (name: string, rest: 'bias' | 'residual'): Kernel => {
  const inputs: Record<string, 'f32'> = { acc: 'f32', [rest]: 'f32' };
  return defineKernel(name, { inputs, params: { factor: 'f32' } }, ({ factor, ...given }, k) => {
    const { acc, [rest]: added } = given as Record<string, typeof factor>;
    const place = [64, 16, 4, 1].map((weight, axis) => k.mul(k.index(axis), weight));
    const number = place.reduce((sum, each) => k.add(sum, each));
    return { y: k.add(k.add(k.mul(acc!, factor), added!), k.toF32(k.and(number, 127))) };
  });
};
const KERNELS = { bias: ofPlace('of bias and place', 'bias'), residual: ofPlace('of residual and place', 'residual') };

const product: Conv2dCase = { input: [2, 24, 6, 7], filter: [40, 3, 3], padding: [1, 1] };
const whole: Conv2dCase = { input: [2, 16, 16, 16], filter: [128, 1, 1] };
const channels: Conv2dCase = { input: [2, 6, 19, 11], filter: [6, 3, 3], groups: 6, padding: [1, 1] };
const TILE = 'conv2d/implicit-gemm-64x64x8';

it.each([
  [TILE, product, 1, 'bias', 1],
  [TILE, whole, 1, 'bias', 1],
  [TILE, { ...product, groups: 2 }, 1, 'bias', 1],
  [TILE, product, 1, 'residual', 2],
  [TILE, product, 3, 'residual', 2],
  [TILE, { ...product, groups: 2 }, 3, 'bias', 2],
  ['conv2d/depthwise-4', channels, 1, 'bias', 1],
  ['conv2d/depthwise-8', { ...channels, stride: [2, 2] }, 1, 'bias', 1],
  ['conv2d/depthwise-8', channels, 1, 'residual', 2],
  ['conv2d/direct-4x4', { ...channels, filter: [24, 3, 3] }, 1, 'bias', 1],
  ['conv2d/direct-1x4', { ...channels, dilation: [1, 2] }, 1, 'bias', 1],
] as const)('%s of %j in %i ranges, with a %s: %i launches', async (id, conv, splits, rest, wanted) => {
  const shape = conv2dCall(conv);
  const [, filters, rows, columns] = shape.outputShape;
  const strides = [filters * rows * columns, rows * columns, columns, 1];
  const kernel = KERNELS[rest];
  const geometry = checkedRun(kernel, {
    shape: shape.outputShape,
    inputs: { acc: { strides }, [rest]: { strides: rest === 'bias' ? [0, 1, 0, 0] : strides } },
    outputs: { y: { strides } },
  });
  const values = {
    input: integers(shape.inputs, 1),
    filter: integers(shape.weights, 4),
    output: integers(shape.outputs, 2),
    [`epilogue.${rest}`]: integers(rest === 'bias' ? filters : shape.outputs, 3),
  };
  const spans = Object.fromEntries(Object.entries(values).map(([name, list]) => [name, upload(client, list)]));
  const epilogue = { kernel, geometry, pointers: [], params: [-0.5] };
  const call = { ...shape, ...spans, epilogue, opName: 'conv2dForward' } as unknown as ResolvedConv2d<StorageBuffer>;
  let launches = 0;
  client.record('conv2d', (recorder) => {
    const plain = pretending(recorder, {});
    const launch: typeof plain.launch = (given) => {
      launches++;
      plain.launch(given);
    };
    planConv2d(call, { ...plain, launch }, () => ({ id, splits }));
  });
  const got = await download(client, spans['output'] as Parameters<typeof download>[1]);
  for (const { buffer } of Object.values(spans)) client.deallocate(buffer.id);
  const want = Array.from(conv2dReference(shape, values.input, values.filter).value, (acc, i) => {
    const place = [i / strides[0]!, (i / strides[1]!) % filters, (i / columns) % rows, i % columns].map(Math.floor);
    const number = place.reduce((sum, each, axis) => sum + each * [64, 16, 4, 1][axis]!, 0) & 127;
    const more = (values[`epilogue.${rest}`] as number[])[rest === 'bias' ? (place[1] as number) : i] as number;
    return acc * -0.5 + more + number;
  });
  expect(want.flatMap((x, i) => (x === got[i] ? [] : [{ i, got: got[i], want: x }])).slice(0, 3)).toEqual([]);
  expect(launches).toBe(wanted);
});

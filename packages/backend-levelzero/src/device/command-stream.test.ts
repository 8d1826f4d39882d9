import { beforeEach, expect, it } from 'vitest';
import { FakeDevice } from '../../test/support/fake-device.ts';
import type { KernelHandle } from '../ffi/prototypes.ts';
import { RESULTS } from '../ffi/result.ts';
import type { DeviceTraits, Span } from '../kernels/recorder.ts';
import { CommandStream } from './command-stream.ts';
import { CHUNK_BYTES, HostBlocks } from './staging.ts';
import { MemoryPool } from './memory-pool.ts';
import type { ModuleCache } from './module-cache.ts';
import { Submissions } from './submissions.ts';

let fake: FakeDevice;
let pool: MemoryPool;
let stream: CommandStream;
let errors: unknown[];
beforeEach(() => {
  fake = new FakeDevice();
  errors = [];
  const submissions = new Submissions(fake.device, (error) => errors.push(error));
  const blocks = new HostBlocks(fake.device, submissions);
  pool = new MemoryPool({
    ...{ device: fake.device, submissions, maxAllocationBytes: 2 ** 30, plainAllocationBytes: 2 ** 30 },
    ...{ maxPooledBytes: 2 ** 20, flush: () => stream.flush(), releaseHost: () => blocks.releaseIdle() },
  });
  const modules = {} as ModuleCache;
  stream = new CommandStream({ device: fake.device, traits: {} as DeviceTraits, submissions, modules, pool, blocks });
});

function allocate(byteLength: number): Span {
  return { buffer: pool.take(byteLength, 'test'), byteOffset: 0, byteLength };
}
const contents = ({ buffer, byteOffset, byteLength }: Span): Uint8Array =>
  fake.at((buffer?.address ?? 0n) + BigInt(byteOffset), byteLength);
const launch = (): void => stream.launchKernel(7n as KernelHandle, [1, 1, 1], 'affine');

it('each command is after a barrier, the first of a list too', () => {
  const [x, y] = [allocate(64), allocate(64)];
  stream.fill(x, 3);
  stream.copy(y, x);
  launch();
  stream.flush();
  stream.write(x, new Uint8Array(4));
  const appended = fake.calls.filter((call) => call.startsWith('zeCommandListAppend'));
  expect(appended.map((call) => call.replace('zeCommandListAppend', ''))).toEqual([
    ...['Barrier', 'MemoryFill', 'Barrier', 'MemoryCopy', 'Barrier', 'LaunchKernel', 'Barrier', 'MemoryCopy'],
  ]);
});

it('fills write the byte that was asked for', () => {
  const x = allocate(256);
  for (const byte of [0, 1, 127, 255]) {
    stream.fill({ ...x, byteOffset: byte, byteLength: 1 }, byte);
    stream.flush();
    fake.finish();
    expect(contents(x)[byte]).toBe(byte);
  }
});

it('a large write arrives in its pieces, each at its place', () => {
  const bytes = new Uint8Array(2 * CHUNK_BYTES + 100);
  for (let i = 0; i < bytes.length; i += 1000) bytes[i] = i % 251;
  const x = allocate(bytes.length);
  stream.write(x, bytes);
  stream.flush();
  fake.finish();
  expect(Buffer.compare(contents(x), bytes)).toBe(0);
});

it('many writes arrive, though lists are submitted between them and nothing is done meanwhile', () => {
  const all = Array.from({ length: 300 }, (_, i) => ({ x: allocate(256), value: 1 + (i % 250) }));
  for (const { x, value } of all) stream.write(x, new Uint8Array(256).fill(value));
  // What is staged for a list that was done may be written again.
  stream.flush();
  fake.finish();
  for (const { x, value } of all) expect(contents(x).every((byte) => byte === value)).toBe(true);
});

it('what is staged belongs to the list that copies it', () => {
  const x = allocate(2 ** 19);
  const y = allocate(2 ** 19);
  // One more command makes the list full.
  for (let i = 0; i < 64; i++) launch();
  stream.write(x, new Uint8Array(2 ** 19).fill(1));
  // The lists before are done, the one that copies is not.
  fake.finish();
  stream.write(y, new Uint8Array(2 ** 19).fill(2));
  stream.flush();
  fake.finish();
  expect(contents(x).every((byte) => byte === 1)).toBe(true);
  expect(contents(y).every((byte) => byte === 2)).toBe(true);
});

it('scratch memory is used again by the next op', () => {
  for (let i = 0; i < 10; i++) stream.record('gemm', (recorder) => void recorder.scratch(4096));
  expect(pool.counters).toMatchObject({ live: 0, allocatedBytes: 4096, pooledBytes: 4096 });
});

it('what the driver refuses to take reaches the caller', () => {
  fake.refusals['zeCommandListAppendLaunchKernel'] = [RESULTS.ERROR_UNSUPPORTED_FEATURE];
  expect(launch).toThrow(/zeCommandListAppendLaunchKernel of affine/);
  fake.refusals['zeCommandListAppendBarrier'] = [RESULTS.ERROR_DEVICE_LOST];
  expect(launch).toThrow(expect.objectContaining({ code: 'DEVICE_LOST' }));
  const x = allocate(4);
  fake.refusals['zeCommandListAppendMemoryCopy'] = [RESULTS.ERROR_UNSUPPORTED_FEATURE];
  expect(() => stream.copy(x, x)).toThrow(/zeCommandListAppendMemoryCopy/);
  fake.refusals['zeCommandListAppendMemoryFill'] = [RESULTS.ERROR_UNSUPPORTED_FEATURE];
  expect(() => stream.fill(x, 1)).toThrow(/zeCommandListAppendMemoryFill/);
  fake.refusals['zeCommandQueueExecuteCommandLists'] = [RESULTS.ERROR_DEVICE_LOST];
  expect(() => stream.flush()).toThrow(expect.objectContaining({ code: 'DEVICE_LOST' }));
  expect(errors).toHaveLength(1);
});

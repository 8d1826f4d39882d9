import { afterAll, beforeAll, beforeEach, expect, it, type MockInstance, vi } from 'vitest';
import { FIRST_COMMANDS, MAX_COMMANDS } from '../src/client/command-stream.ts';
import { WebGpuBackend } from '../src/index.ts';

const backend = new WebGpuBackend();
let submit: MockInstance;
let createBindGroup: MockInstance;

beforeAll(async () => {
  await backend.init();
  submit = vi.spyOn(backend.native.queue, 'submit');
  createBindGroup = vi.spyOn(backend.native.device, 'createBindGroup');
});
beforeEach(() => {
  vi.clearAllMocks();
});
afterAll(() => backend.dispose());

const negate = (ptr: ReturnType<typeof backend.alloc>): void =>
  backend.unary({ op: 'neg', n: 4, input: ptr, output: ptr });

it('submits a few ops at a wait', async () => {
  const ptr = backend.alloc(16);
  for (let i = 0; i < FIRST_COMMANDS; i++) negate(ptr);
  expect(submit).not.toHaveBeenCalled();
  await backend.synchronize();
  expect(submit).toHaveBeenCalledOnce();
});

it('submits in batches that grow up to the bound, until a wait', async () => {
  const ptr = backend.alloc(16);
  const sizes: number[] = [];
  for (let i = 0, before = 0; sizes.length < 6; i++) {
    negate(ptr);
    if (submit.mock.calls.length === sizes.length) continue;
    sizes.push(i - before);
    before = i;
  }
  expect(sizes.slice(0, 2)).toEqual([FIRST_COMMANDS, 2 * FIRST_COMMANDS]);
  expect(sizes.slice(-2)).toEqual([MAX_COMMANDS, MAX_COMMANDS]);
  await backend.synchronize();
  submit.mockClear();
  for (let i = 0; i <= FIRST_COMMANDS; i++) negate(ptr);
  expect(submit).toHaveBeenCalledOnce();
});

it('counts copies and fills', () => {
  backend.flush();
  submit.mockClear();
  const [from, to] = [backend.alloc(16), backend.alloc(16)];
  for (let i = 0; i < FIRST_COMMANDS / 2; i++) {
    backend.copyDtod(to, from, 16);
    backend.fill(from, 0, 16);
  }
  expect(submit).not.toHaveBeenCalled();
  backend.copyDtod(to, from, 16);
  expect(submit).toHaveBeenCalledOnce();
  backend.flush();
  expect(submit).toHaveBeenCalledTimes(2);
  backend.flush();
  expect(submit).toHaveBeenCalledTimes(2);
});

it('makes no second bind group for the same memory', () => {
  const ptr = backend.alloc(16);
  negate(ptr);
  createBindGroup.mockClear();
  for (let i = 0; i < 50; i++) negate(ptr);
  expect(createBindGroup).not.toHaveBeenCalled();
});

it('reads through one staging buffer again and again', async () => {
  const ptr = backend.alloc(16);
  const got = new Float32Array(4);
  await backend.copyDtoh(got, ptr);
  const createBuffer = vi.spyOn(backend.native.device, 'createBuffer');
  for (let i = 0; i < 20; i++) await backend.copyDtoh(got, ptr);
  expect(createBuffer).not.toHaveBeenCalled();
  createBuffer.mockRestore();
});

import { type DevicePtr, download, offsetPtr, upload } from '@concord/backend-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LevelZeroBackend, levelZero } from '../src/index.ts';
import { addModule } from './support/kernels.ts';

const backend = new LevelZeroBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

it('nothing of it works before init', () => {
  const fresh = new LevelZeroBackend();
  for (const read of [
    () => fresh.native.device,
    () => fresh.native.load(addModule()),
    () => fresh.native.buildLogs(),
  ]) {
    expect(read).toThrow(expect.objectContaining({ code: 'NOT_INITIALIZED' }));
  }
});

it('has the raw handles and the library', () => {
  const { driver, device, context, queue, libraryFile } = backend.native;
  for (const handle of [driver, device, context, queue]) expect(handle).toBeGreaterThan(0n);
  expect(libraryFile).toMatch(/ze_loader/);
});

it('launches a user’s kernel between the ops', async () => {
  const a = upload(backend, [1, 2, 3, 4]);
  const b = upload(backend, [10, 20, 30, 40]);
  const c = backend.alloc(16);
  backend.unary({ op: 'neg', n: 4, input: a, output: a });
  const module = backend.native.load(addModule(), { name: 'add' });
  expect(backend.native.load(addModule())).toBe(module);
  backend.native.launch(module, 'add', [a, b, c, { f32: 0.5 }], [2, 1, 1], { groupSize: [2, 1, 1] });
  backend.unary({ op: 'neg', n: 4, input: c, output: c });
  expect([...(await download(backend, c, 4))]).toEqual([-4, -8, -12, -16]);
  // The words instead of the module, and pointers inside of allocations.
  const at = (ptr: DevicePtr): DevicePtr => offsetPtr(ptr, 8);
  backend.native.launch(addModule(), 'add', [at(a), at(b), c, { f32: 1 }], [1, 1, 1], { groupSize: [2, 1, 1] });
  expect([...(await download(backend, c, 4))]).toEqual([27, 36, -12, -16]);
  for (const ptr of [a, b, c]) backend.free(ptr);
});

it('pointers have addresses while they live', () => {
  const ptr = backend.alloc(64);
  const address = backend.native.pointerOf(ptr);
  expect(address).toBeGreaterThan(0n);
  expect(address % 256n).toBe(0n);
  expect(backend.native.pointerOf(offsetPtr(ptr, 12))).toBe(address + 12n);
  backend.free(ptr);
  expect(() => backend.native.pointerOf(ptr)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  const launch = (): void =>
    backend.native.launch(addModule(), 'add', [ptr, ptr, ptr, { f32: 1 }], [1, 1, 1], { groupSize: [1, 1, 1] });
  expect(launch).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
});

it('arguments of another kind are refused', () => {
  const launch = (arg: unknown): void =>
    backend.native.launch(addModule(), 'add', [arg, arg, arg, arg] as never, [1, 1, 1], { groupSize: [1, 1, 1] });
  for (const arg of ['1', null, { pointer: 1n }, { u32: 'x' }, { local: 0 }, {}, { u32: 1, f32: 2 }]) {
    expect(() => launch(arg)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  }
});

it.each<[string, unknown[]]>([
  ['arguments that are no array', [{}, [1, 1, 1], { groupSize: [1, 1, 1] }]],
  ['groups beyond 32 bits', [undefined, [2 ** 32 + 1, 1, 1], { groupSize: [1, 1, 1] }]],
  ['no groups', [undefined, undefined, { groupSize: [1, 1, 1] }]],
  ['a group size beyond 32 bits', [undefined, [1, 1, 1], { groupSize: [2 ** 32 + 1, 1, 1] }]],
  ['a group size beyond the device', [undefined, [1, 1, 1], { groupSize: [1e6, 1, 1] }]],
  ['a group size of two', [undefined, [1, 1, 1], { groupSize: [1, 1] }]],
  ['a group size that is a number', [undefined, [1, 1, 1], { groupSize: 8 }]],
])('%s are refused', (_, [args, ...rest]) => {
  const x = backend.alloc(64);
  const launch = (): void =>
    backend.native.launch(addModule(), 'add', ...([args ?? [x, x, x, { f32: 1 }], ...rest] as [never, never, never]));
  expect(launch).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  backend.free(x);
});

it('a module runs in its own backend only', async () => {
  const other = new LevelZeroBackend();
  await other.init();
  const module = other.native.load(addModule());
  const x = backend.alloc(64);
  const launch = (): void =>
    backend.native.launch(module, 'add', [x, x, x, { f32: 1 }], [1, 1, 1], { groupSize: [1, 1, 1] });
  expect(launch).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  // What was destroyed with its backend must not reach the driver either.
  await other.dispose();
  expect(launch).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  backend.free(x);
});

it('what are no words of a module, and no constants, are refused', () => {
  const load = (words: unknown, constants?: unknown) => (): unknown =>
    backend.native.load(words as never, { constants: constants as never });
  const invalid = expect.objectContaining({ code: 'INVALID_ARGUMENT' });
  for (const words of [undefined, new Uint32Array(0), [...addModule()], new Uint8Array(addModule().buffer)]) {
    expect(load(words)).toThrow(invalid);
  }
  for (const constants of [5, [null], [{ id: 'a', type: 'u32', value: 1 }], [{ id: 0, type: 'u32', value: -1 }]]) {
    expect(load(addModule(), constants)).toThrow(invalid);
  }
});

it.each<[string, unknown]>([
  ['options must be an object, got null', null],
  ['options must be an object, got "add"', 'add'],
  ['options has no field nam; did you mean name?', { nam: 'add' }],
  ['options.name must be a string, got 5', { name: 5 }],
  ['options.flags must be a string, got Object', { flags: {} }],
])('load: %s', (detail, options) => {
  expect(() => backend.native.load(addModule(), options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', detail }),
  );
});

it.each<[string, unknown]>([
  ['options must be an object, got null', null],
  ['options has no field groupsize; did you mean groupSize?', { groupsize: [1, 1, 1] }],
])('launch: %s', (detail, options) => {
  expect(() => backend.native.launch(addModule(), 'add', [], [1, 1, 1], options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', detail }),
  );
});

it('words that a compiler might not survive are refused before a driver sees them', () => {
  const module = addModule();
  const swapped = module.map((word) => new DataView(Uint32Array.of(word).buffer).getUint32(0, false));
  const damaged = module.slice();
  damaged[5] = 0;
  for (const [words, problem] of [
    [Uint32Array.of(1, 2, 3), 'they begin with 0x1, not with 0x7230203'],
    [swapped, 'the bytes of each word are in the other order'],
    [module.slice(0, 6), 'they end within an instruction, 1 words too early'],
    [module.slice(0, 3), 'they end within an instruction'],
    [damaged, 'the instruction at word 5 has no words'],
  ] as const) {
    expect(() => backend.native.load(words)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(problem) as string }),
    );
  }
});

it('the provider offers the device before WebGPU’s', async () => {
  const provider = levelZero();
  expect(provider).toMatchObject({ name: 'level-zero', contractVersion: 3, priority: 20 });
  expect(await provider.probe()).toEqual({ available: true, devices: [backend.device] });
  expect(await levelZero({ device: 'geforce' }).probe()).toMatchObject({
    available: false,
    message: 'there is no device "geforce"',
    hint: expect.stringContaining('the devices are 0: '),
  });
  expect(() => levelZero({ device: -1 })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  const limited = await provider.create({ memoryLimitBytes: 1000 });
  await limited.init();
  expect(() => limited.alloc(1001)).toThrow(expect.objectContaining({ code: 'OUT_OF_MEMORY' }));
  await limited.dispose();
});

it('prepare builds what an op needs', async () => {
  await using other = await LevelZeroBackend.create();
  const progress: number[] = [];
  await other.prepare(
    [
      { op: 'unary', call: { op: 'exp', n: 1000 } },
      { op: 'gemm', call: { m: 64, n: 64, k: 64 } },
    ],
    { onProgress: (done) => progress.push(done) },
  );
  expect(progress).toEqual([1, 2]);
});

import { afterEach, beforeEach, expect, it } from 'vitest';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { LevelZeroBackend } from '../src/index.ts';
import { replaced } from './support/replaced.ts';

// The driver refuses modules by a switch of the test's. What a CPU gets is a product by `wide`, whose first kernel packs A.

const BUILD_FAILURE = 0x7000_0004;
const OUT_OF_DEVICE_MEMORY = 0x7000_0003;
const SIZE = 64;
const PRODUCT = { m: SIZE, n: SIZE, k: SIZE };

let backend: LevelZeroBackend;
let client: LevelZeroClient;
beforeEach(async () => {
  backend = new LevelZeroBackend();
  await backend.init();
  client = await LevelZeroClient.open();
});
afterEach(async () => {
  await backend.dispose();
  await client.dispose();
});

/** Runs `body` while the builds with these numbers, from 0, end like that; gives the number of builds. */
async function withBuilds(
  result: number,
  isRefused: (build: number) => boolean,
  body: () => Promise<unknown>,
): Promise<number> {
  let builds = 0;
  const fails = (): number | undefined => (isRefused(builds++) ? result : undefined);
  await replaced(client, { zeModuleCreate: { fails } }, async () => void (await body()));
  return builds;
}

const first = (build: number): boolean => build === 0;
const every = (): boolean => true;

/** A product of ones, and what came out. */
async function multiply(): Promise<number> {
  const [a, b, c] = [0, 0, 0].map(() => backend.alloc(4 * SIZE * SIZE)) as [never, never, never];
  backend.copyHtod(a, new Float32Array(SIZE * SIZE).fill(1));
  backend.copyHtod(b, new Float32Array(SIZE * SIZE).fill(1));
  backend.gemm({ ...PRODUCT, a, b, c });
  const got = new Float32Array(SIZE * SIZE);
  await backend.copyDtoh(got, c);
  return new Set(got).size === 1 ? (got[0] as number) : Number.NaN;
}

const negate = (): void => {
  const x = backend.alloc(4);
  backend.unary({ op: 'neg', n: 1, input: x, output: x });
};

const failure = {
  id: 'gemm/wide',
  reason: expect.stringMatching(/^kernel gemm\/\S.* does not build$/) as unknown,
  kernel: expect.stringMatching(/^gemm\//) as unknown,
  log: expect.stringContaining('ZE_RESULT_ERROR_MODULE_BUILD_FAILURE') as unknown,
};

it('the next variant runs, and the report says why', async () => {
  expect(backend.native.tuning.choices('gemm', PRODUCT)).toMatchObject([{ picked: 'gemm/wide' }]);
  await withBuilds(BUILD_FAILURE, first, async () => expect(await multiply()).toBe(SIZE));
  expect(backend.variants()).toEqual({
    runs: { 'gemm/direct': 1 },
    candidates: ['gemm/direct'],
    forced: [],
    excluded: [failure],
  });
});

it('once: it is not built again, for no other call', async () => {
  await withBuilds(BUILD_FAILURE, first, multiply);
  backend.native.tuning.force(['gemm/wide']);
  expect(await withBuilds(BUILD_FAILURE, every, multiply)).toBe(0);
  expect(backend.variants().runs).toEqual({ 'gemm/direct': 2 });
});

it('nothing of the plan was recorded', async () => {
  let launches = 0;
  const call = (original: (...args: unknown[]) => number, args: unknown[]): number => (launches++, original(...args));
  await replaced(client, { zeCommandListAppendLaunchKernel: { call } }, async () => {
    await withBuilds(BUILD_FAILURE, (build) => build === 1, multiply);
  });
  expect(backend.variants()).toMatchObject({ runs: { 'gemm/direct': 1 }, excluded: [{ id: 'gemm/wide' }] });
  expect(launches).toBe(1);
});

it('prepare builds what will run', async () => {
  await withBuilds(BUILD_FAILURE, first, () => backend.prepare([{ op: 'gemm', call: PRODUCT }]));
  expect(backend.variants()).toMatchObject({ runs: {}, candidates: ['gemm/direct'], excluded: [failure] });
  expect(await withBuilds(BUILD_FAILURE, every, multiply)).toBe(0);
});

it('when none is left it is an error with all that the compiler said, and the backend goes on', async () => {
  const refused = { code: 'DEVICE_ERROR', op: 'gemm' };
  await withBuilds(BUILD_FAILURE, every, async () => {
    await expect(multiply()).rejects.toMatchObject({
      ...refused,
      detail: expect.stringMatching(
        /^no kernel variant works for gemm f32 NN 6 6 6 0: gemm\/wide: .*BUILD_FAILURE.*gemm\/direct: .*BUILD_FAILURE/,
      ) as unknown,
    });
    expect(negate).toThrow(/kernel run\/map runs neg .*MODULE_BUILD_FAILURE/);
    expect(backend.variants().excluded?.map(({ id }) => id)).not.toContain('run/map-runs');
    await expect(backend.prepare([{ op: 'gemm', call: PRODUCT }])).rejects.toMatchObject({ code: 'DEVICE_ERROR' });
  });
  await expect(multiply()).rejects.toMatchObject(refused);
  const [x, y] = [backend.alloc(16), backend.alloc(4)];
  backend.copyHtod(x, Float32Array.of(1, 2, 3, 4));
  backend.reduce({ op: 'sum', shape: [4], axis: 0, input: x, output: y });
  const sum = new Float32Array(1);
  await backend.copyDtoh(sum, y);
  expect(sum[0]).toBe(10);
});

it('want of memory says nothing of a kernel', async () => {
  await withBuilds(OUT_OF_DEVICE_MEMORY, every, async () => {
    await expect(multiply()).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
  });
  expect(await multiply()).toBe(SIZE);
  expect(backend.variants()).toMatchObject({ runs: { 'gemm/wide': 1 }, excluded: [] });
});

it('a kernel without variants is an error as long as it does not build', async () => {
  const c = backend.alloc(4);
  const scale = (): void =>
    backend.gemm({ m: 1, n: 1, k: 1, alpha: 0, beta: 2, a: backend.alloc(4), b: backend.alloc(4), c });
  await withBuilds(BUILD_FAILURE, every, async () =>
    expect(scale).toThrow(/kernel run\/map runs scale .*does not build/),
  );
  expect(scale).not.toThrow();
  expect(backend.variants().excluded).toEqual([]);
});

it('what was left out for another reason never runs either', async () => {
  const open = LevelZeroClient.open.bind(LevelZeroClient);
  LevelZeroClient.open = async (options) => {
    const opened = await open(options);
    opened.tuning.exclude('gemm/w*', { reason: 'the trial gave 3 instead of 4' });
    return opened;
  };
  try {
    await using other = new LevelZeroBackend();
    await other.init();
    expect(other.native.tuning.choices('gemm', PRODUCT)).toMatchObject([{ candidates: ['gemm/direct'] }]);
    expect(other.variants().excluded?.map(({ id }) => id)).toEqual([
      'gemm/wide-rows',
      'gemm/wide-columns',
      'gemm/wide',
      'gemm/weight-rows',
    ]);
  } finally {
    LevelZeroClient.open = open;
  }
});

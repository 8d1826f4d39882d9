import {
  type ComputeBackend,
  type DevicePtr,
  download,
  NULL_PTR,
  OP_NAMES,
  type OpName,
  type OpPlan,
  upload,
} from '@concord/backend-core';
import { compareAll } from '../checks/compare.ts';
import {
  type CaseContext,
  CaseFailure,
  caseOf,
  type ConformanceCase,
  expectThat,
  initialized,
} from '../harness/case.ts';
import { callOp, expectRejects, expectThrows, SAMPLE_CALLS, withNullPointers } from '../harness/planned-call.ts';

/** Milliseconds of work that tell a wait from none, and the largest product that is tried. */
const ENOUGH_MS = 100;
const MAX_SIZE = 2048;
/** The maximum number of products after each other, where one of the largest takes less. */
const MAX_CALLS = 1024;
/** The largest share of the whole time that a read with nothing to wait for may take. */
const MAX_SHARE = 1 / 4;
/** A machine that is busy with something else may stop a read for a moment, but not each time. */
const TRIES = 3;

interface Times {
  /** Milliseconds until `synchronize` resolved. */
  readonly waited: number;
  /** Milliseconds of a read of four bytes of the result after it. */
  readonly read: number;
}

/**
 * Checks that the work is done when `synchronize` resolves: reading its result takes as long as a copy. If that is a
 * good part of the whole time, it is the read that waited.
 */
async function checkWait({ backend }: CaseContext): Promise<void> {
  const words = MAX_SIZE ** 2;
  const [a, c] = [backend.alloc(4 * words), backend.alloc(4 * words)];
  try {
    backend.fill(a, 0, 4 * words);
    let [size, calls] = [128, 1];
    const once = (): Promise<Times> => time(backend, { size, calls, a, c });
    // The first call of each size builds kernels.
    for (;;) {
      await once();
      const { waited, read } = await once();
      if (waited + read >= ENOUGH_MS) break;
      if (size < MAX_SIZE) size *= 2;
      else if (calls < MAX_CALLS) calls *= 2;
      else break;
    }
    let times: Times = { waited: 0, read: 0 };
    for (let attempt = 0; attempt < TRIES; attempt++) {
      times = await once();
      if (times.read < MAX_SHARE * (times.waited + times.read)) return;
    }
    const ms = (value: number): string => `${value.toFixed(1)} ms`;
    throw new CaseFailure(
      `synchronize resolved before the work was done: ${calls} products of ${size}x${size} and the wait took ${ms(times.waited)}, ` +
        `and a read of 4 bytes after it ${ms(times.read)}`,
    );
  } finally {
    backend.free(a);
    backend.free(c);
  }
}

interface Work {
  readonly size: number;
  readonly calls: number;
  readonly a: DevicePtr;
  readonly c: DevicePtr;
}

async function time(backend: ComputeBackend, { size, calls, a, c }: Work): Promise<Times> {
  const word = new Float32Array(1);
  const start = performance.now();
  for (let call = 0; call < calls; call++) backend.gemm({ m: size, n: size, k: size, a, b: a, c });
  await backend.synchronize();
  const synced = performance.now();
  await backend.copyDtoh(word, c);
  return { waited: synced - start, read: performance.now() - synced };
}

const lifecycleCase = (id: string, run: ConformanceCase['run'], op?: OpName): ConformanceCase =>
  caseOf(`lifecycle/${id}`, 'lifecycle', run, op && { op, dtype: 'f32' });

async function notWithin(ms: number): Promise<never> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
  throw new CaseFailure(`lost did not resolve within ${ms} ms of dispose`);
}

const DISPOSED = { code: 'DISPOSED' } as const;

/** init, dispose, waits, and what a backend says about itself. */
export const lifecycleCases: readonly ConformanceCase[] = [
  lifecycleCase('init twice, also at once', async ({ create }) => {
    const backend = await create();
    await Promise.all([backend.init(), backend.init()]);
    await backend.init();
    expectThat(backend.isInitialized, 'isInitialized is false after init');
  }),
  lifecycleCase('asyncDispose disposes, where the symbol exists', async ({ create }) => {
    if (typeof Symbol.asyncDispose !== 'symbol') return;
    const backend = await initialized({ create });
    await backend[Symbol.asyncDispose]();
    expectThrows('alloc', DISPOSED, () => backend.alloc(4));
  }),
  lifecycleCase('dispose twice, also at once', async (context) => {
    const backend = await initialized(context);
    await Promise.all([backend.dispose(), backend.dispose()]);
    await backend.dispose();
    expectThat(!backend.isInitialized, 'isInitialized is true after dispose');
  }),
  lifecycleCase('dispose without init', async ({ create }) => {
    const backend = await create();
    await backend.dispose();
    await expectRejects('init after dispose', DISPOSED, () => backend.init());
  }),
  lifecycleCase('dispose during init', async ({ create }) => {
    const backend = await create();
    const opening = backend.init().catch(() => undefined);
    await backend.dispose();
    await opening;
    expectThrows('alloc', DISPOSED, () => backend.alloc(4));
  }),
  lifecycleCase('calls before init are refused', async ({ create }) => {
    const backend = await create();
    const early = { code: 'NOT_INITIALIZED' } as const;
    expectThrows('alloc', early, () => backend.alloc(4));
    expectThrows('fill', early, () => backend.fill(NULL_PTR, 0, 4));
    expectThrows('flush', early, () => backend.flush());
    await expectRejects('synchronize', early, () => backend.synchronize());
    for (const sample of SAMPLE_CALLS) {
      expectThrows(sample.op, early, () => callOp(backend, sample.op, withNullPointers(sample)));
    }
    await backend.init();
    backend.free(backend.alloc(4));
  }),
  lifecycleCase('create, dispose, create', async (context) => {
    for (let round = 0; round < 3; round++) {
      const backend = await initialized(context);
      const ptr = upload(backend, [round, 2]);
      compareAll('round trip', await download(backend, ptr, 2), [round, 2], { bound: () => 0 });
      await backend.dispose();
    }
  }),
  lifecycleCase('two objects side by side', async ({ create }) => {
    const [first, second] = [await create(), await create()];
    await Promise.all([first.init(), second.init()]);
    const [x, y] = [upload(first, [1, 2]), upload(second, [3, 4])];
    expectThat(Number(x) !== Number(y), 'two backend objects gave the same pointer');
    // Both are the first allocation of their object, where a check of the low bits alone would find the other.
    expectThrows('copyHtod', { code: 'INVALID_ARGUMENT' }, () => first.copyHtod(y, Float32Array.of(7)));
    expectThrows('copyDtod', { code: 'INVALID_ARGUMENT' }, () => second.copyDtod(y, x, 8));
    if (second.supports('unary').ok) {
      expectThrows('neg', { code: 'INVALID_ARGUMENT' }, () => second.unary({ op: 'neg', n: 2, input: x, output: x }));
    }
    compareAll('first', await download(first, x, 2), [1, 2], { bound: () => 0 });
    await first.dispose();
    compareAll('second', await download(second, y, 2), [3, 4], { bound: () => 0 });
  }),
  lifecycleCase('everything after dispose is DISPOSED', async (context) => {
    const backend = await initialized(context);
    const ptr = backend.alloc(64);
    await backend.dispose();
    expectThrows('alloc', DISPOSED, () => backend.alloc(4));
    expectThrows('copyHtod', DISPOSED, () => backend.copyHtod(ptr, new Uint8Array(4)));
    expectThrows('copyDtod', DISPOSED, () => backend.copyDtod(ptr, ptr, 4));
    expectThrows('fill', DISPOSED, () => backend.fill(ptr, 0, 4));
    expectThrows('flush', DISPOSED, () => backend.flush());
    expectThrows('supports', DISPOSED, () => backend.supports('gemm'));
    await expectRejects('copyDtoh', DISPOSED, () => backend.copyDtoh(new Uint8Array(4), ptr));
    await expectRejects('synchronize', DISPOSED, () => backend.synchronize());
    await expectRejects('prepare', DISPOSED, () => backend.prepare([]));
    for (const sample of SAMPLE_CALLS) {
      expectThrows(sample.op, DISPOSED, () => callOp(backend, sample.op, withNullPointers(sample)));
    }
    // A program that cleans up in the wrong order has nothing to clean up.
    backend.free(ptr);
    backend.free(ptr);
  }),
  lifecycleCase('lost resolves on dispose', async ({ create }) => {
    const backend = await create();
    const { lost } = backend;
    await backend.init();
    await backend.dispose();
    // Raced: a promise that never settles would hang the run.
    const { reason, message } = await Promise.race([lost, notWithin(1000)]);
    expectThat(reason === 'disposed' && message !== '', `lost gave ${reason} "${message}"`);
  }),
  lifecycleCase(
    'a wait at dispose ends',
    async (context) => {
      const backend = await initialized(context);
      const x = upload(backend, new Float32Array(100_000).fill(2));
      backend.unary({ op: 'exp', n: 100_000, input: x, output: x });
      const outcome = backend.synchronize().then(
        () => 'done',
        (error: unknown) => (error as { code?: string }).code,
      );
      await backend.dispose();
      const result = await outcome;
      expectThat(result === 'done' || result === 'DISPOSED', `the wait ended with ${String(result)}`);
    },
    'unary',
  ),
  lifecycleCase('a wait ends when the work is done', checkWait, 'gemm'),
  lifecycleCase('an aborted wait rejects with the reason of the signal', async ({ backend }) => {
    const reason = new Error('enough');
    const wait = backend.synchronize({ signal: AbortSignal.abort(reason) });
    const got = await wait.then(
      () => 'nothing',
      (error: unknown) => error,
    );
    expectThat(got === reason, `rejected with ${String(got)}`);
    await backend.synchronize();
  }),
  lifecycleCase(
    'a wait that times out can be repeated',
    async ({ backend }) => {
      const x = upload(backend, new Float32Array(200_000).fill(0.5));
      backend.unary({ op: 'tanh', n: 200_000, input: x, output: x });
      await backend.synchronize({ timeoutMs: 0 }).catch((error: unknown) => {
        expectThat((error as { code?: string }).code === 'DEVICE_ERROR', `timeout gave ${String(error)}`);
      });
      await backend.synchronize({ timeoutMs: Infinity });
      const [first] = await download(backend, x, 1);
      expectThat(Math.abs((first as number) - Math.tanh(0.5)) < 1e-6, `tanh(0.5) is ${String(first)}`);
      backend.free(x);
    },
    'unary',
  ),
  lifecycleCase('says what it is', async ({ backend }) => {
    const { contractVersion, name, device, capabilities } = backend;
    expectThat(contractVersion === 3, `contractVersion is ${String(contractVersion)}`);
    expectThat(/^[a-z][a-z0-9-]*$/.test(name), `name "${name}" is not kebab-case`);
    for (const field of ['vendor', 'name', 'type', 'driver'] as const) {
      expectThat(typeof device[field] === 'string' && device[field] !== '', `device.${field} is empty`);
    }
    expectThat(capabilities.limits.maxHeadDim >= 256, `maxHeadDim ${capabilities.limits.maxHeadDim} is under 256`);
    expectThat(capabilities.limits.maxAllocationBytes > 0, 'maxAllocationBytes is not positive');
    expectThat(
      [capabilities, capabilities.ops, capabilities.dtypes, capabilities.limits, capabilities.numerics].every(
        Object.isFrozen,
      ),
      'capabilities are not frozen',
    );
    for (const op of capabilities.ops) {
      expectThat(OP_NAMES.includes(op), `unknown op ${op} in capabilities`);
      expectThat((capabilities.dtypes[op]?.length ?? 0) > 0, `${op} has no dtype`);
    }
  }),
  lifecycleCase('supports agrees with the calls', async ({ backend }) => {
    for (const sample of SAMPLE_CALLS) {
      for (const dtype of ['f32', 'f16'] as const) {
        if (sample.op === 'gemmF16' && dtype === 'f32') continue;
        const declared = backend.capabilities.dtypes[sample.op]?.includes(dtype) === true;
        const support = backend.supports(sample.op, { dtype });
        expectThat(support.ok === declared, `supports(${sample.op}, ${dtype}) is ${support.ok}, declared ${declared}`);
        if (declared) continue;
        expectThrows(`${sample.op} in ${dtype}`, { code: 'UNSUPPORTED' }, () =>
          callOp(backend, sample.op, { ...withNullPointers(sample), dtype }),
        );
      }
      const whole = backend.supports(sample.op, sample.shape);
      const isDeclared = backend.capabilities.ops.includes(sample.op);
      expectThat(whole.ok === isDeclared, `supports(${sample.op}, shape) is ${whole.ok}`);
    }
    expectThat(!backend.supports('gemm', { m: -1, n: 1, k: 1 }).ok, 'supports a negative size');
    expectThat(!backend.supports('no such op' as OpName).ok, 'supports an op that does not exist');
    const { maxHeadDim } = backend.capabilities.limits;
    const large = { batch: 1, heads: 1, seqQ: 1, seqKv: 1, headDim: maxHeadDim + 1, scale: 1 };
    expectThat(!backend.supports('attention', large).ok, 'supports a headDim over its limit');
    expectThrows('attention over maxHeadDim', { code: 'UNSUPPORTED' }, () =>
      backend.attention({ ...large, q: NULL_PTR, k: NULL_PTR, v: NULL_PTR, o: NULL_PTR }),
    );
  }),
  lifecycleCase('prepare reports progress and refuses what the call refuses', async ({ backend }) => {
    const steps: string[] = [];
    const plans = SAMPLE_CALLS.filter(({ op }) => backend.supports(op).ok)
      .slice(0, 2)
      .map(({ op, shape }) => ({ op, call: shape }) as unknown as OpPlan);
    const total = plans.length;
    await backend.prepare(plans, { onProgress: (done, of) => steps.push(`${done}/${of}`) });
    const want = plans.map((_, i) => `${i + 1}/${total}`);
    expectThat(String(steps) === String(want), `progress was ${String(steps)}, want ${String(want)}`);
    await expectRejects('bad shape', { code: 'INVALID_ARGUMENT' }, () =>
      backend.prepare([...plans, { op: 'unary', call: { op: 'neg', n: -1 } }]),
    );
    const reason = new Error('enough');
    const got = await backend.prepare(plans, { signal: AbortSignal.abort(reason) }).catch((error: unknown) => error);
    expectThat(got === reason, `an aborted prepare rejected with ${String(got)}`);
  }),
];

import { type ComputeBackend, type DevicePtr, NULL_PTR } from '@concord/backend-core';
import type { DefinedOp } from '@concord/backend-core/implement';
import { caseOf, type CaseSubject, type ConformanceCase, initialized, type Needs } from '../../harness/case.ts';
import {
  callOp,
  expectRejects,
  expectThrows,
  needsOf,
  SAMPLE_CALLS,
  sampleOf,
  withNullPointers,
} from '../../harness/planned-call.ts';
import { callOf } from '../../run/plan.ts';
import { looseRun, samplePlan } from '../run/refusals.ts';

type Call = (backend: ComputeBackend) => unknown;

const NOT_INITIALIZED = { code: 'NOT_INITIALIZED' } as const;
const PTR = 1 as DevicePtr;

const memoryCalls: Readonly<Record<string, Call>> = {
  'alloc(1024)': (backend) => backend.alloc(1024),
  'alloc(0)': (backend) => backend.alloc(0),
  'free(1)': (backend) => backend.free(PTR),
  copyHtod: (backend) => backend.copyHtod(PTR, new Uint8Array(4)),
  'copyHtod of nothing': (backend) => backend.copyHtod(0 as DevicePtr, new Uint8Array()),
  copyDtod: (backend) => backend.copyDtod(PTR, PTR, 4),
  'copyDtod of nothing': (backend) => backend.copyDtod(0 as DevicePtr, 0 as DevicePtr, 0),
  fill: (backend) => backend.fill(PTR, 0, 4),
  flush: (backend) => backend.flush(),
  memory: (backend) => backend.memory(),
  supports: (backend) => backend.supports('gemm'),
  device: (backend) => backend.device,
  capabilities: (backend) => backend.capabilities,
};

const waitingCalls: Readonly<Record<string, (backend: ComputeBackend) => Promise<unknown>>> = {
  copyDtoh: (backend) => backend.copyDtoh(new Uint8Array(4), PTR),
  'copyDtoh into nothing': (backend) => backend.copyDtoh(new Uint8Array(), 0 as DevicePtr),
  synchronize: (backend) => backend.synchronize(),
  prepare: (backend) => backend.prepare([]),
};

function beforeInit(id: string, op: CaseSubject, check: (backend: ComputeBackend) => Promise<void>): ConformanceCase {
  return caseOf(`fixed/before-init/${id}`, op, async ({ create }) => check(await create()));
}

const RUN_PLAN = samplePlan();

const RUN_CALLS: readonly (readonly [what: string, kernel: unknown, call: unknown])[] = [
  ['', RUN_PLAN.kernel, callOf(RUN_PLAN, () => 1 as DevicePtr)],
  [' with null pointers', RUN_PLAN.kernel, callOf(RUN_PLAN, () => NULL_PTR)],
  [' with zero sizes', RUN_PLAN.kernel, { ...callOf(RUN_PLAN, () => NULL_PTR), shape: [0, 6] }],
  [' without arguments', undefined, undefined],
];

function opCase(op: DefinedOp, what: string, call: unknown): ConformanceCase {
  return beforeInit(`${op}${what}`, op, async (backend) =>
    expectThrows(op, NOT_INITIALIZED, () => callOp(backend, op, call)),
  );
}

/** Everything before `init()` is NOT_INITIALIZED, whatever the arguments; `init` itself may be called twice. */
export const beforeInitCases: readonly ConformanceCase[] = [
  beforeInit('not initialized', 'lifecycle', async (backend) => {
    if (backend.isInitialized) throw new Error('a new backend says that it is initialized');
  }),
  caseOf('fixed/init/twice', 'lifecycle', async (context) => {
    const backend = await initialized(context);
    await backend.init();
    backend.free(backend.alloc(4));
  }),
  // What else can make init fail differs from device to device; a disposed object fails on all.
  caseOf('fixed/init/rejects with a BackendError', 'lifecycle', async ({ create }) => {
    const backend = await create();
    await backend.dispose();
    await expectRejects('init', { code: 'DISPOSED' }, () => backend.init());
  }),
  ...Object.entries(memoryCalls).map(([id, call]) =>
    beforeInit(id, 'memory', async (backend) => expectThrows(id, NOT_INITIALIZED, () => call(backend))),
  ),
  ...Object.entries(waitingCalls).map(([id, call]) =>
    beforeInit(id, 'memory', (backend) => expectRejects(id, NOT_INITIALIZED, () => call(backend))),
  ),
  ...RUN_CALLS.map(([what, kernel, call]) =>
    beforeInit(`run${what}`, 'run', async (backend) =>
      expectThrows('run', NOT_INITIALIZED, () => looseRun(backend, kernel, call)),
    ),
  ),
  ...SAMPLE_CALLS.flatMap((sample) => {
    const nulls = withNullPointers(sample);
    const zeroed = Object.fromEntries(sample.sizes.map((name) => [name, 0]));
    return [
      opCase(
        sample.op,
        '',
        Object.fromEntries(Object.entries(nulls).map(([key, value]) => [key, value === 0 ? 1 : value])),
      ),
      opCase(sample.op, ' with null pointers', nulls),
      opCase(sample.op, ' with zero sizes', { ...nulls, ...zeroed }),
      opCase(sample.op, ' without arguments', undefined),
    ];
  }),
];

type Change = Readonly<Record<string, unknown>>;

/** The error of an attention without queries, keys or columns. */
function sizesOfAttention(change: Readonly<Record<string, number>>): string {
  const { seqQ, seqKv, headDim } = { ...sampleOf('attention').shape, ...change } as Record<string, unknown>;
  return `seqQ, seqKv and headDim must all be > 0, got ${String(seqQ)}, ${String(seqKv)} and ${String(headDim)}`;
}

/** Wrong calls with null pointers, and the detail that must come before any check of a pointer. */
const REFUSED: readonly (readonly [DefinedOp, id: string, Change, detail: string])[] = [
  ['reduce', 'shape []', { shape: [], axis: 0 }, 'shape must not be empty'],
  ['reduce', 'axis 5', { shape: [4, 4], axis: 5 }, 'axis 5 is out of bounds for shape of length 2'],
  ['reduce', 'axis -1', { shape: [4, 4], axis: -1 }, 'axis -1 is out of bounds for shape of length 2'],
  ...['seqQ', 'seqKv', 'headDim'].map(
    (name) => ['attention', `${name} 0`, { [name]: 0 }, sizesOfAttention({ [name]: 0 })] as const,
  ),
  ['attention', 'batch 0 and seqQ 0', { batch: 0, seqQ: 0 }, sizesOfAttention({ seqQ: 0 })],
  ...[0, -1, Infinity, Number.NaN].map(
    (scale) =>
      ['attention', `scale ${scale}`, { scale }, `scale must be a positive finite number, got ${scale}`] as const,
  ),
  [
    'conv2dForward',
    'inputShape of 3',
    { inputShape: [1, 3, 32] },
    'inputShape must have 4 elements [n, c, h, w], got 3',
  ],
  [
    'conv2dForward',
    'filterShape of 3',
    { filterShape: [16, 3, 3] },
    'filterShape must have 4 elements [k, c / groups, r, s], got 3',
  ],
  [
    'conv2dForward',
    'outputShape of 3',
    { outputShape: [1, 3, 2] },
    'outputShape must have 4 elements [n, k, p, q], got 3',
  ],
  ['conv2dForward', 'stride of 1', { stride: [1] }, 'stride must have 2 elements [h, w], got 1'],
  [
    'conv2dForward',
    'padding of 1',
    { padding: [0] },
    'padding must have 2 elements [h, w] or 4 [top, left, bottom, right], got 1',
  ],
];

function errorCase(
  id: string,
  op: CaseSubject,
  check: (backend: ComputeBackend) => void,
  needs?: Needs,
): ConformanceCase {
  return caseOf(`fixed/error/${id}`, op, async ({ backend }) => check(backend), needs);
}

/** Errors with their exact details. */
export const fixedErrorCases: readonly ConformanceCase[] = [
  errorCase('alloc(0)', 'memory', (backend) =>
    expectThrows('alloc(0)', { code: 'INVALID_ARGUMENT', detail: 'cannot allocate 0 bytes' }, () => backend.alloc(0)),
  ),
  ...REFUSED.map(([op, id, change, detail]) =>
    errorCase(`${op} ${id}`, op, (backend) => {
      const call = { ...withNullPointers(sampleOf(op)), ...change };
      expectThrows(op, { code: 'INVALID_ARGUMENT', detail }, () => callOp(backend, op, call));
    }),
  ),
  ...SAMPLE_CALLS.map((sample) =>
    errorCase(
      `${sample.op} with null pointers`,
      sample.op,
      (backend) =>
        expectThrows(sample.op, { code: 'INVALID_ARGUMENT', detail: 'unknown handle 0' }, () =>
          callOp(backend, sample.op, withNullPointers(sample)),
        ),
      needsOf(sample),
    ),
  ),
  errorCase('alloc(128), free, free', 'memory', (backend) => {
    const ptr = backend.alloc(128);
    if (!(ptr > NULL_PTR)) throw new Error(`alloc gave ${ptr}`);
    backend.free(ptr);
    const detail = `unknown handle ${ptr}, already freed`;
    expectThrows('second free', { code: 'INVALID_ARGUMENT', detail }, () => backend.free(ptr));
  }),
];

/** The arguments that make each op a no-op although all pointers are null. */
const ZEROS: readonly (readonly [DefinedOp, readonly Readonly<Record<string, unknown>>[]])[] = [
  ['gemm', [{ m: 0 }, { n: 0 }, { k: 0 }, { m: 0, n: 0, k: 0 }, { k: 0, beta: 2 }]],
  ['batchedGemm', [{ m: 0 }, { n: 0 }, { k: 0 }, { batchCount: 0 }]],
  ['gemmF16', [{ m: 0 }, { n: 0 }, { k: 0 }]],
  ['unary', [{ n: 0 }]],
  ['binary', [{ n: 0 }]],
  [
    'reduce',
    [
      { shape: [0], axis: 0 },
      { shape: [4, 0], axis: 0 },
      { shape: [4, 0], axis: 1 },
      { shape: [0, 4, 5], axis: 2, op: 'mean' },
    ],
  ],
  ['attention', [{ batch: 0 }, { heads: 0 }]],
  [
    'conv2dForward',
    [
      { inputShape: [0, 2, 4, 4], outputShape: [0, 3, 2, 2] },
      { filterShape: [0, 2, 3, 3], outputShape: [1, 0, 2, 2] },
    ],
  ],
];

const describe = (change: Readonly<Record<string, unknown>>): string =>
  Object.entries(change)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(' ');

/** Calls that have nothing to do accept null pointers. */
export const noOpCases: readonly ConformanceCase[] = [
  ...ZEROS.flatMap(([op, changes]) =>
    changes.map((change) => {
      const run: ConformanceCase['run'] = async ({ backend }) => {
        callOp(backend, op, { ...withNullPointers(sampleOf(op)), ...change });
        await backend.synchronize();
      };
      return caseOf(`fixed/no-op/${op} ${describe(change)}`, op, run, needsOf({ op }));
    }),
  ),
  caseOf('fixed/no-op/copies of nothing', 'memory', async ({ backend }) => {
    backend.copyHtod(NULL_PTR, new Float32Array());
    await backend.copyDtoh(new Float32Array(), NULL_PTR);
    backend.copyDtod(NULL_PTR, NULL_PTR, 0);
    backend.fill(NULL_PTR, 0, 0);
  }),
  caseOf('fixed/no-op/synchronize with nothing queued', 'memory', ({ backend }) => backend.synchronize()),
];

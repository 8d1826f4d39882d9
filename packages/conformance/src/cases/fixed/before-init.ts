import { type ComputeBackend, type DevicePtr, NULL_PTR } from '@concord/backend-core';
import type { DefinedOp } from '@concord/backend-core/implement';
import type { CaseSubject, ConformanceCase } from '../../harness/case.ts';
import { expectRejects, expectThrows } from '../../harness/expect-error.ts';
import { callOf } from '../../run/call.ts';
import { looseRun, samplePlan } from '../run/sample-run.ts';
import { callOp, SAMPLE_CALLS, withNullPointers } from '../../harness/sample-calls.ts';
import { behaviour } from '../../harness/case-text.ts';

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
  return {
    id: `fixed/before-init/${id}`,
    op,
    params: {},
    about: behaviour(
      `Before init(): ${id}.`,
      'isInitialized is false, and everything is NOT_INITIALIZED, whatever the arguments.',
    ),
    run: async ({ create }) => check(await create()),
  };
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
  {
    id: 'fixed/init/twice',
    op: 'lifecycle',
    params: {},
    about: behaviour('Calls init() twice.', 'Both resolve, and the backend works.'),
    run: async ({ create }) => {
      const backend = await create();
      await backend.init();
      await backend.init();
      backend.free(backend.alloc(4));
    },
  },
  {
    // What else can make init fail differs from device to device; a disposed object fails on all.
    id: 'fixed/init/rejects with a BackendError',
    op: 'lifecycle',
    params: {},
    about: behaviour('Calls init() on a disposed object.', 'The promise rejects with DISPOSED.'),
    run: async ({ create }) => {
      const backend = await create();
      await backend.dispose();
      await expectRejects('init', { code: 'DISPOSED' }, () => backend.init());
    },
  },
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

import type { ComputeBackend, DevicePtr } from '@concord/backend-core';
import type { CpuBackend } from '@concord/backend-cpu';
import { mutantsOf, type Wrap, inFront, inMethod, inKernel, type Mutant } from './mutant.ts';
import { accepting } from './refused.ts';

const later = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 2);
  });

/** Every element-wise kernel call goes through `schedule`, which may put it off; `flush` runs before anything reads. */
function scheduled(
  schedule: (job: () => void) => void,
  flush: () => void,
  overrides: (backend: CpuBackend) => Partial<ComputeBackend> = () => ({}),
): Wrap {
  return (backend) => {
    inKernel('run', (call, run) => schedule(() => run(call)))(backend);
    const read: ComputeBackend['copyDtoh'] = (...args) => {
      flush();
      return backend.copyDtoh(...args);
    };
    return inFront(() => ({ copyDtoh: read, ...overrides(backend) }))(backend);
  };
}

/** Every second op runs before the one that came first. */
const overtaking: Wrap = (backend) => {
  let held: (() => void) | undefined;
  const flush = (): void => {
    held?.();
    held = undefined;
  };
  const schedule = (job: () => void): void => {
    if (held === undefined) held = job;
    else {
      job();
      flush();
    }
  };
  return scheduled(schedule, flush)(backend);
};

/** Ops wait for a read. */
const queued =
  (overrides: (backend: CpuBackend, flush: () => void) => Partial<ComputeBackend>): Wrap =>
  (backend) => {
    const queue: (() => void)[] = [];
    const flush = (): void => queue.splice(0).forEach((job) => job());
    return scheduled(
      (job) => queue.push(job),
      flush,
      () => overrides(backend, flush),
    )(backend);
  };

/** Copies to the device do not wait for ops. */
const copiesOvertake: Wrap = queued(() => ({}));

/** As {@link copiesOvertake}, and `free` gives memory to the next that asks before it has been read. */
const freeOvertakes: Wrap = queued((backend, flush) => ({
  free: (ptr) => {
    // Freed memory has another owner immediately.
    accepting(() => backend.native.bytesOf(ptr), new Uint8Array()).fill(0xee);
    backend.free(ptr);
  },
  copyHtod: (...args) => {
    flush();
    backend.copyHtod(...args);
  },
  fill: (...args) => {
    flush();
    backend.fill(...args);
  },
}));

/** The source is looked at again at a read. */
const lateCopy: Wrap = inFront((backend) => {
  const late = new Map<DevicePtr, ArrayBufferView>();
  return {
    copyHtod: (dst, src) => {
      backend.copyHtod(dst, src);
      late.set(dst, src);
    },
    copyDtoh: (...args) => {
      for (const [dst, src] of late) accepting(() => backend.copyHtod(dst, src), undefined);
      late.clear();
      return backend.copyDtoh(...args);
    },
  };
});

const BUGS: Readonly<Record<string, Wrap>> = {
  'the second op overtakes the first': overtaking,
  'copyHtod overtakes an op': copiesOvertake,
  'free overtakes an op': freeOvertakes,
  'copyHtod keeps a reference to the source': lateCopy,
  'copyDtoh reads later than it was called': inMethod('copyDtoh', async (backend, ...args) => {
    await later();
    await backend.copyDtoh(...args);
  }),
};

/** Bugs of the order in which calls take effect. */
export const orderMutants: readonly Mutant[] = mutantsOf('memory:', ['memory'], BUGS);

import { BackendError, type ComputeBackend, type DevicePtr, type OpName, OP_NAMES } from '@concord/backend-core';
import { OPS } from '@concord/backend-core/implement';
import type { CpuBackend } from '@concord/backend-cpu';
import { mutantsOf, type Wrap, inFront, inMethod, type Mutant } from './mutant.ts';

type AnyCall = Record<string, unknown> | null | undefined;

/** Puts `around` in front of every op. */
const everyOp = (around: (call: AnyCall, run: (call: AnyCall) => void, op: OpName) => void) => {
  return (backend: CpuBackend): Partial<ComputeBackend> =>
    Object.fromEntries(
      OP_NAMES.map((op) => {
        const run = (backend[op] as (call: unknown) => void).bind(backend);
        return [op, (call: AnyCall) => around(call, run, op)];
      }),
    );
};

const pointerNames = ['a', 'b', 'c', 'q', 'k', 'v', 'o', 'input', 'filter', 'output'];
const isNull = (call: AnyCall): boolean =>
  Object.entries(call ?? {}).some(([name, value]) => value === 0 && pointerNames.includes(name) && name !== 'k');

/** NaN instead of every size counts as 0. */
const nanIsZero = (call: AnyCall): AnyCall =>
  typeof call === 'object' && call !== null
    ? Object.fromEntries(Object.entries(call).map(([key, value]) => [key, Number.isNaN(value) ? 0 : value]))
    : call;

/** Bugs of the checks that stand before every op; each must be found by the cases of each op. */
const CHECK_BUGS: Readonly<Record<string, (backend: CpuBackend) => Partial<ComputeBackend>>> = {
  'pointers checked before the shape': everyOp((call, run) => {
    if (isNull(call)) throw new BackendError('INVALID_ARGUMENT', 'unknown handle 0');
    run(call);
  }),
  'NaN sizes count as 0': everyOp((call, run) => run(nanIsZero(call))),
  'an error without a code': everyOp((call, run) => {
    try {
      run(call);
    } catch (error) {
      throw new Error((error as Error).message, { cause: error });
    }
  }),
  'every refused call ignored': everyOp((call, run) => {
    try {
      run(call);
    } catch (error) {
      if ((error as BackendError).code !== 'INVALID_ARGUMENT') throw error;
    }
  }),
  'null pointers refused where there is nothing to do': everyOp((call, run) => {
    run(call);
    if (isNull(call)) throw new BackendError('INVALID_ARGUMENT', 'unknown handle 0');
  }),
  'zero sizes refused': everyOp((call, run, op) => {
    const sizes = op === 'run' ? ['shape'] : OPS[op].sample.nothingToDo.flatMap(Object.keys);
    if (sizes.some((name) => [call?.[name]].flat().includes(0))) {
      throw new BackendError('INVALID_ARGUMENT', 'sizes must be positive');
    }
    run(call);
  }),
};

const withoutReason = (promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> =>
  promise.catch((error: unknown) => {
    throw signal?.aborted === true ? new BackendError('DEVICE_ERROR', 'aborted') : error;
  });

const BUGS: Readonly<Record<string, Wrap>> = {
  'init required for nothing': (backend) => {
    let isNew = true;
    return inFront(() => ({
      init: () => {
        isNew = false;
        return backend.init();
      },
      dispose: () => {
        isNew = false;
        return backend.dispose();
      },
      alloc: (...args) => (isNew ? (256 as DevicePtr) : backend.alloc(...args)),
    }))(backend);
  },
  'a second init refused': (backend) => {
    let started = false;
    return inMethod('init', (_) => {
      if (started) return Promise.reject(new BackendError('DEVICE_ERROR', 'already open'));
      started = true;
      return backend.init();
    })(backend);
  },
  'init after dispose works': inMethod('init', (backend) => backend.init().catch(() => undefined)),
  'a second dispose refused': (backend) => {
    let disposed = false;
    return inMethod('dispose', (_) => {
      if (disposed) return Promise.reject(new BackendError('DISPOSED', ''));
      disposed = true;
      return backend.dispose();
    })(backend);
  },
  'dispose leaves calls working': (backend) => {
    let disposed = false;
    return inFront(() => ({
      dispose: async () => {
        disposed = true;
      },
      get isInitialized() {
        return !disposed && backend.isInitialized;
      },
      init: () => (disposed ? Promise.reject(new BackendError('DISPOSED', '')) : backend.init()),
    }))(backend);
  },
  'dispose leaves alloc working': (backend) => {
    let disposed = false;
    return inFront(() => ({
      dispose: () => {
        disposed = true;
        return backend.dispose();
      },
      alloc: (...args) => (disposed ? (256 as DevicePtr) : backend.alloc(...args)),
    }))(backend);
  },
  'free after dispose throws': inMethod('free', (backend, ptr) => {
    if (!backend.isInitialized) throw new BackendError('DISPOSED', '');
    backend.free(ptr);
  }),
  'isInitialized stays true': inFront(() => ({ isInitialized: true })),
  'lost never resolves': inFront(() => ({ lost: new Promise(() => {}) })),
  'lost gives no reason': inFront((backend) => ({
    lost: backend.lost.then(() => ({ reason: 'device-lost', message: '' })),
  })),
  'pointers of two objects are the same': inFront((backend) => {
    let slot = 0;
    const full = (ptr: DevicePtr): DevicePtr => (ptr > 0 && ptr < 2 ** 42 ? ((ptr + slot) as DevicePtr) : ptr);
    return {
      alloc: (...args) => {
        const ptr = backend.alloc(...args);
        slot = Math.floor(ptr / 2 ** 42) * 2 ** 42;
        return (ptr % 2 ** 42) as DevicePtr;
      },
      free: (ptr) => backend.free(full(ptr)),
      copyHtod: (dst, src) => backend.copyHtod(full(dst), src),
      copyDtoh: (dst, src, options) => backend.copyDtoh(dst, full(src), options),
      unary: (call) => backend.unary({ ...call, input: full(call.input), output: full(call.output) }),
    };
  }),
  'synchronize does not wait': (backend) => {
    const queued: (() => void)[] = [];
    const finish = (): void => queued.splice(0).forEach((work) => work());
    return inFront(() => ({
      gemm: (call) => queued.push(() => backend.gemm(call)),
      synchronize: async (options) => {
        // An abort and a timeout are as they should be.
        if (options !== undefined) await backend.synchronize(options);
      },
      copyDtoh: async (...args) => {
        finish();
        await backend.copyDtoh(...args);
      },
      free: (ptr) => {
        finish();
        backend.free(ptr);
      },
    }))(backend);
  },
  'a timeout is sticky': (backend) => {
    let sticky = false;
    const timeout = (): BackendError => new BackendError('DEVICE_ERROR', 'synchronize did not finish within 0 ms');
    return inMethod('synchronize', async (_, options) => {
      sticky ||= options?.timeoutMs === 0;
      if (sticky) throw timeout();
      await backend.synchronize(options);
    })(backend);
  },
  'an aborted wait resolves': inFront((backend) => ({
    synchronize: (options) => (options?.signal?.aborted === true ? Promise.resolve() : backend.synchronize(options)),
    copyDtoh: (dst, src, options) =>
      options?.signal?.aborted === true ? Promise.resolve() : backend.copyDtoh(dst, src, options),
  })),
  'the reason of an abort lost': inFront((backend) => ({
    synchronize: (options) => withoutReason(backend.synchronize(options), options?.signal),
    copyDtoh: (dst, src, options) => withoutReason(backend.copyDtoh(dst, src, options), options?.signal),
  })),
  'prepare reports no progress': inMethod('prepare', (backend, plans, { signal } = {}) =>
    backend.prepare(plans, signal === undefined ? {} : { signal }),
  ),
  'prepare accepts everything': inMethod('prepare', (backend, plans, options) =>
    backend.isInitialized ? backend.prepare(plans, options).catch(() => undefined) : backend.prepare(plans),
  ),
  'prepare does not see the signal': inMethod('prepare', (backend, plans, { onProgress } = {}) =>
    backend.prepare(plans, onProgress === undefined ? {} : { onProgress }),
  ),
  'supports says yes to everything': inMethod('supports', (backend, op, shape) => {
    backend.supports(op, shape);
    return { ok: true };
  }),
  'supports denies f16': inMethod('supports', (backend, op, shape) =>
    (shape as { dtype?: string } | undefined)?.dtype === 'f16'
      ? { ok: false, reason: 'no f16 here' }
      : backend.supports(op, shape),
  ),
  'supports throws for a bad shape': inMethod('supports', (backend, op, shape) => {
    const answer = backend.supports(op, shape);
    if (!answer.ok && 'm' in (shape ?? {})) throw new BackendError('INVALID_ARGUMENT', answer.reason);
    return answer;
  }),
  'the limit of headDim not enforced': inMethod('attention', (backend, call) => {
    if (!(call?.headDim > 65_536)) backend.attention(call);
  }),
  'capabilities can be changed': inFront((backend) => ({
    get capabilities() {
      return structuredClone(backend.capabilities);
    },
  })),
  'a device without a driver': inFront((backend) => ({
    get device() {
      return { ...backend.device, driver: '' };
    },
  })),
  'a maximum headDim under 256': inFront((backend) => ({
    get capabilities() {
      const { capabilities } = backend;
      const limits = Object.freeze({ ...capabilities.limits, maxHeadDim: 128 });
      return Object.freeze({ ...capabilities, limits });
    },
  })),
};

/** Bugs of waits, which the cases of memory look at. */
const WAIT_BUGS: Readonly<Record<string, Wrap>> = {
  'a wrong timeout accepted': inMethod('synchronize', (backend, options) =>
    backend.synchronize(Number.isNaN(options?.timeoutMs) ? {} : options),
  ),
  'synchronize throws instead of rejecting': inMethod('synchronize', (backend, options) => {
    if (Number.isNaN(options?.timeoutMs)) throw new BackendError('INVALID_ARGUMENT', 'timeoutMs must be a number');
    return backend.synchronize(options);
  }),
};

/** Bugs of init, dispose, waits and answers about the backend itself, and of the checks before every op. */
export const lifecycleMutants: readonly Mutant[] = [
  ...mutantsOf('lifecycle:', ['lifecycle'], BUGS),
  ...mutantsOf('memory:', ['memory'], WAIT_BUGS),
  ...Object.entries(CHECK_BUGS).flatMap(([name, overrides]) =>
    OP_NAMES.map((op): Mutant => ({ name: `${op}: ${name}`, ops: [op], wrap: inFront(overrides) })),
  ),
];

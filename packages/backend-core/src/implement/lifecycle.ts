import type { LostInfo, WaitOptions } from '../contract/backend.ts';
import type { Capabilities, DeviceInfo, Limits, Numerics } from '../contract/capabilities.ts';
import { deepFreeze } from '../contract/deep-freeze.ts';
import { checkWaitOptions } from '../contract/memory.validate.ts';
import { printableInfo } from '../contract/printable-info.ts';
import { annotate, BackendError, toBackendError } from '../errors/backend-error.ts';
import { reading } from '../errors/reading.ts';

/** The result of `doInit`. */
export interface InitResult {
  readonly device: DeviceInfo;
  readonly limits: Limits;
  readonly numerics: Numerics;
}

/** The facts about a device that are known once it is open. */
interface OpenedDevice {
  readonly device: DeviceInfo;
  readonly capabilities: Capabilities;
}

/** `dispose` gives the device that long to finish. */
const DISPOSE_TIMEOUT_MS = 5_000;
/** Longer delays overflow the timer and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The states of a backend object (new, initialized, failed, lost, disposed) and the waits that end when they change.
 * `BaseBackend` stands on it; the two are apart so that each can be read alone.
 */
export abstract class BackendLifecycle {
  abstract readonly name: string;
  readonly lost: Promise<LostInfo>;

  #resolveLost!: (info: LostInfo) => void;
  #ready: OpenedDevice | undefined;
  #initializing: Promise<void> | undefined;
  readonly #opening = new AbortController();
  #disposing: Promise<void> | undefined;
  #lostError: BackendError | undefined;
  #stickyError: BackendError | undefined;
  /** Rejects of the waits that are under way. */
  readonly #pending = new Set<(error: BackendError) => void>();

  static {
    // Not on older browsers. The interface declares it; TypeScript cannot declare a method that may be missing.
    if (typeof Symbol.asyncDispose === 'symbol') {
      Object.defineProperty(BackendLifecycle.prototype, Symbol.asyncDispose, {
        value(this: BackendLifecycle) {
          return this.dispose();
        },
      });
    }
  }

  /**
   * A new object that is initialized: `await WebGpuBackend.create(options)` is the constructor and `init()` in one.
   *
   * @throws {BackendError} BACKEND_UNAVAILABLE when there is no usable device; nothing is left open then
   */
  static async create<Arguments extends unknown[], Backend extends BackendLifecycle>(
    this: new (...args: Arguments) => Backend,
    ...args: Arguments
  ): Promise<Backend> {
    const backend = new this(...args);
    try {
      await backend.init();
      return backend;
    } catch (error) {
      await withoutError(() => backend.dispose());
      throw error;
    }
  }

  constructor() {
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve;
    });
  }

  declare [Symbol.asyncDispose]: () => Promise<void>;

  /**
   * Opens the device. Cleans up after itself when it fails.
   *
   * @param signal - aborted by `dispose`, with the error to reject with: for what may take longer than `dispose` waits
   */
  protected abstract doInit(signal: AbortSignal): Promise<InitResult>;
  /** Waits for the device and releases it. Called at most once, and only after a successful `doInit`. */
  protected abstract doDispose(): Promise<void>;

  /** The capabilities of the opened device. */
  protected abstract capabilitiesOf(result: InitResult): Capabilities;

  get isInitialized(): boolean {
    return this.#ready !== undefined && this.#disposing === undefined;
  }

  get device(): DeviceInfo {
    return this.#initialized().device;
  }

  get capabilities(): Capabilities {
    return this.#initialized().capabilities;
  }

  init(): Promise<void> {
    if (this.#disposing !== undefined) return Promise.reject(this.#error('DISPOSED'));
    if (this.#lostError !== undefined) return Promise.reject(this.#lostError);
    this.#initializing ??= this.#initialize();
    return this.#initializing;
  }

  dispose(): Promise<void> {
    if (this.#disposing === undefined) {
      this.#disposing = this.#dispose();
      this.usableChanged(false);
    }
    return this.#disposing;
  }

  async #initialize(): Promise<void> {
    let isOpen = false;
    try {
      this.beforeInit();
      const result = await this.doInit(this.#opening.signal);
      isOpen = true;
      this.#ready = deepFreeze({
        device: printableInfo(result.device),
        capabilities: structuredClone(this.capabilitiesOf(result)),
      });
    } catch (error) {
      if (isOpen) await withoutError(() => this.doDispose());
      this.afterClose();
      this.#initializing = undefined;
      throw annotate(toBackendError(error, 'BACKEND_UNAVAILABLE', { reason: 'failed' }), { backend: this.name });
    }
    // Disposed while the device was opening: `#dispose` waits for this and then releases it.
    if (this.#disposing !== undefined) throw this.#error('DISPOSED');
    if (this.#lostError !== undefined) throw this.#lostError;
    this.usableChanged(!this.isDead);
  }

  async #dispose(): Promise<void> {
    // `dispose` must have set `#disposing` before anything here looks at it.
    await Promise.resolve();
    this.#rejectPending(this.#error('DISPOSED'));
    this.#opening.abort(this.#error('DISPOSED'));
    try {
      await withinDisposeTimeout(this.#close());
    } catch (error) {
      throw annotate(toBackendError(error, 'DEVICE_ERROR'), { backend: this.name, op: 'dispose' });
    } finally {
      this.afterClose();
      this.#resolveLost({ reason: 'disposed', message: 'backend disposed' });
    }
  }

  /** Closes the object. It waits for an `init` under way, so that a device which opens late is still released. */
  async #close(): Promise<void> {
    await this.#initializing?.catch(() => undefined);
    if (this.#ready !== undefined) await this.doDispose();
  }

  /** Called when calls are taken from now on, or are so no more: what {@link assertUsable} would say. */
  protected usableChanged(_isUsable: boolean): void {}

  /** Called when the device is about to be opened; what it takes, `afterClose` gives back. */
  protected beforeInit(): void {}

  /** Called when the object is disposed, whatever `doDispose` gave, and when `init` has failed: perhaps both. */
  protected afterClose(): void {}

  /** Returns whether `free` has nothing left to free: after loss, failure or dispose. */
  protected get isDead(): boolean {
    return this.#disposing !== undefined || this.#lostError !== undefined || this.#stickyError !== undefined;
  }

  /** Returns the error for what is there only from `init` to `dispose`: DISPOSED or NOT_INITIALIZED. */
  protected notReady(): BackendError {
    return this.#error(this.#disposing === undefined ? 'NOT_INITIALIZED' : 'DISPOSED');
  }

  /** @throws {BackendError} DISPOSED, DEVICE_LOST, the sticky error, or NOT_INITIALIZED, in this order */
  protected assertUsable(op?: string): void {
    if (this.#disposing !== undefined) throw annotate(this.#error('DISPOSED'), { op });
    if (this.#lostError !== undefined) throw this.#lostError;
    if (this.#stickyError !== undefined) throw this.#stickyError;
    if (this.#ready === undefined) throw annotate(this.#error('NOT_INITIALIZED'), { op });
  }

  /** Reports that the device is gone, for implementers. Pending and later calls fail with `DEVICE_LOST`. */
  protected reportLost(message: string, cause?: unknown): void {
    if (this.#lostError !== undefined || this.#disposing !== undefined) return;
    this.#lostError = this.#error('DEVICE_LOST', message, cause);
    this.usableChanged(false);
    this.#rejectPending(this.#lostError);
    this.#resolveLost({ reason: 'device-lost', message });
  }

  /** Reports that accepted work has failed, for implementers. Pending and later calls fail with this error. */
  protected reportFailure(error: BackendError): void {
    if (this.isDead) return;
    this.#stickyError = annotate(error, { backend: this.name });
    this.usableChanged(false);
    this.#rejectPending(this.#stickyError);
  }

  /**
   * Runs `start` now and waits for its promise, at most as long as the options, the device and the object last.
   * `start` gets a function that tells whether anybody still waits.
   */
  protected wait(
    op: string,
    options: WaitOptions | undefined,
    start: (isWanted: () => boolean) => Promise<void>,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      this.assertUsable(op);
      const { timeoutMs, signal } = this.#checkedOptions(op, options);
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }

      let wanted = true;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const settle = (finish: () => void): void => {
        if (!wanted) return;
        wanted = false;
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#pending.delete(onFailure);
        finish();
      };
      const onFailure = (error: unknown): void => settle(() => reject(error));
      const onAbort = (): void => onFailure(signal?.reason);
      const onTimeout = (): void =>
        onFailure(
          new BackendError('DEVICE_ERROR', `${op} did not finish within ${timeoutMs} ms`, {
            backend: this.name,
            op,
            hint: 'the work goes on; wait again, or with a larger timeoutMs',
          }),
        );
      const onError = (error: unknown): void =>
        onFailure(annotate(toBackendError(error, 'DEVICE_ERROR'), { backend: this.name, op }));
      // Before `start`, which may find the device lost.
      this.#pending.add(onFailure);
      try {
        start(() => wanted).then(() => settle(resolve), onError);
      } catch (error) {
        onError(error);
      }
      if (!wanted) return;
      signal?.addEventListener('abort', onAbort);
      if (timeoutMs <= MAX_TIMER_MS) timer = setTimeout(onTimeout, timeoutMs);
    });
  }

  #checkedOptions(op: string, options: WaitOptions | undefined): ReturnType<typeof checkWaitOptions> {
    try {
      return reading('options', () => checkWaitOptions(options));
    } catch (error) {
      throw annotate(toBackendError(error, 'INVALID_ARGUMENT'), { backend: this.name, op });
    }
  }

  #rejectPending(error: BackendError): void {
    for (const reject of [...this.#pending]) reject(error);
  }

  #initialized(): OpenedDevice {
    if (this.#ready === undefined) throw this.notReady();
    return this.#ready;
  }

  #error(code: 'NOT_INITIALIZED' | 'DISPOSED' | 'DEVICE_LOST', detail = '', cause?: unknown): BackendError {
    const hint = {
      NOT_INITIALIZED: 'await backend.init() first',
      DISPOSED: 'make a new backend object',
      DEVICE_LOST: 'make a new backend object',
    }[code];
    return new BackendError(code, detail, { backend: this.name, hint, cause });
  }
}

/** Closes what failed: why it cannot be used matters more than why it cannot be closed either. */
async function withoutError(close: () => Promise<void>): Promise<void> {
  try {
    await close();
  } catch {
    // See above.
  }
}

async function withinDisposeTimeout(work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, DISPOSE_TIMEOUT_MS);
  });
  try {
    await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

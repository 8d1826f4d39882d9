// Runs in the browser, bundled as an application's own code is: with the packages as they are built.
import { type BackendProvider, download, isBackendError, type LostInfo, upload } from '@concord/backend-core';
import { measureProfile, profile } from '@concord/backend-core/profile';
import { webgpu, WebGpuBackend } from '@concord/backend-webgpu';
import { type ConformanceReport, runConformance } from '@concord/conformance';
import { multiply } from './multiply.ts';

/** The functions that the tests call from outside. */
const concordPage = {
  runSample: (selection: { readonly sample: number; readonly after: number }): Promise<ConformanceReport> =>
    runConformance(() => new WebGpuBackend(), selection),
  runAll,
  /** The progress of {@link runAll}. */
  progress: { done: 0, total: 0 },
  probe: (): ReturnType<BackendProvider['probe']> => webgpu().probe(),
  multiplyInWorker,
  loseDevice,
  awaitLoss,
  profileProduct,
};

declare global {
  var concord: typeof concordPage;
}
globalThis.concord = concordPage;

/** Runs the whole suite, with the adapter's own limits and features or with WebGPU's minimum limits and no features. */
async function runAll(limits: 'own' | 'default'): Promise<ConformanceReport> {
  const adapter = limits === 'own' ? null : await navigator.gpu.requestAdapter();
  const device = await adapter?.requestDevice();
  return runConformance(() => new WebGpuBackend({ device }), {
    onCase: (_, done, total) => Object.assign(concordPage.progress, { done, total }),
  });
}

function multiplyInWorker(): Promise<unknown> {
  const worker = new Worker('worker.js', { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<unknown>) => resolve(data));
    worker.addEventListener('error', ({ message }) => reject(new Error(message)));
  }).finally(() => worker.terminate());
}

/** A product's entries in the timeline of the page. */
async function profileProduct(): Promise<unknown> {
  const backend = new WebGpuBackend();
  await backend.init();
  const [a, b, c] = [upload(backend, [1, 2, 3, 4]), upload(backend, [1, 0, 0, 1]), backend.alloc(16)];
  const profiled = await profile(backend, () => backend.gemm({ m: 2, n: 2, k: 2, a, b, c }));
  measureProfile(profiled);
  await backend.dispose();
  const entries = performance.getEntriesByType('measure') as PerformanceMeasure[];
  return entries.map(({ name, duration, detail }) => {
    return { name, isTimed: duration >= 0, track: (detail as { devtools: { track: string } }).devtools.track };
  });
}

interface Loss {
  readonly lost: LostInfo;
  /** The errors of a call and a wait after it. */
  readonly after: readonly unknown[];
  /** The result of a new backend. */
  readonly product: readonly number[];
}

/** Ends the device from within the page. */
function loseDevice(): Promise<Loss> {
  return awaitLoss((device) => device.destroy());
}

/** The events on and after the loss of a device, which `ready` gets. */
async function awaitLoss(ready: (device: GPUDevice) => void): Promise<Loss> {
  const backend = new WebGpuBackend();
  await backend.init();
  const ptr = upload(backend, [1, 2, 3, 4]);
  ready(backend.native.device);
  const lost = await backend.lost;
  const after = [await codeOf(async () => backend.fill(ptr, 0, 16)), await codeOf(() => download(backend, ptr, 4))];
  await backend.dispose();
  return { lost, after, product: await multiply() };
}

async function codeOf(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    return isBackendError(error) ? error.code : String(error);
  }
}

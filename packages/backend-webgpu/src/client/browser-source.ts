import { awaitPlainly, type GpuFound, type GpuMissing, type GpuSource } from './gpu-source.ts';

/** WebGPU as a browser (or Deno, or a worker of either) offers it: `navigator.gpu`. */
export function browserSource(): GpuSource {
  return { name: 'browser', key: 'browser', open: async () => openNavigator() };
}

function openNavigator(): GpuFound | GpuMissing {
  const gpu = (globalThis as { navigator?: { gpu?: GPU } }).navigator?.gpu;
  if (gpu !== undefined) {
    return { found: true, gpu, awaiting: awaitPlainly, explainNoAdapter, checksBounds: true };
  }
  if ((globalThis as { isSecureContext?: boolean }).isSecureContext === false) {
    return {
      found: false,
      reason: 'permission-denied',
      message: 'browsers offer WebGPU to secure pages only, and this page is not secure',
      hint: 'serve the page over https or from localhost',
    };
  }
  return {
    found: false,
    reason: 'library-missing',
    message: 'this browser has no navigator.gpu',
    hint: 'use a browser with WebGPU (Chrome or Edge 113, Safari 26, Firefox 141 or newer)',
  };
}

function explainNoAdapter(): GpuMissing {
  return {
    found: false,
    reason: 'no-device',
    message: 'the browser has WebGPU but offered no adapter',
    hint: 'chrome://gpu or about:support says why; Chrome on Linux may want chrome://flags/#enable-unsafe-webgpu',
  };
}

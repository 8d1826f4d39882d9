// The worker, or the frame, that evaluates a program, in the sandbox that sandbox.ts makes. The sandbox has an opaque origin, and its policy
// refuses every request. The globals are removed besides, so that a program fails at the line that uses one. Of the navigator
// WebGPU is left: it reaches memory of its own alone.
import { evaluation, type EvaluationRequest } from './evaluation.ts';

/** The part of a worker's global scope that is used here. */
interface WorkerScope {
  postMessage(message: unknown): void;
  addEventListener(
    type: 'message',
    listener: (event: { readonly data: EvaluationRequest }) => void,
    options: { readonly once: true },
  ): void;
}

const REMOVED = [
  ...['fetch', 'XMLHttpRequest', 'WebSocket', 'WebSocketStream', 'WebTransport', 'EventSource', 'RTCDataChannel'],
  ...['caches', 'indexedDB', 'cookieStore', 'navigator', 'BroadcastChannel', 'Worker', 'SharedWorker', 'importScripts'],
  ...['postMessage', 'FontFace', 'fonts', 'webkitRequestFileSystem', 'webkitResolveLocalFileSystemURL'],
];

const scope = globalThis as unknown as WorkerScope;
const post = scope.postMessage.bind(scope);

scope.addEventListener(
  'message',
  ({ data }) => {
    const { gpu, userAgent } = navigator as Navigator & { readonly gpu?: unknown };
    removeGlobals();
    if (gpu !== undefined) Object.assign(globalThis, { navigator: { gpu, userAgent } });
    void evaluation(data, post).then(post);
  },
  { once: true },
);

function removeGlobals(): void {
  for (let holder: object | null = globalThis; holder !== null; holder = Object.getPrototypeOf(holder) as object | null)
    for (const name of REMOVED) Reflect.deleteProperty(holder, name);
}

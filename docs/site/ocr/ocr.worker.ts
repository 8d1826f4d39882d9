import type { ComputeBackend } from '@concord/backend-core';
import { type Line, Ocr } from '@concord/example-ocr';
import { byteSource, type OpenBytes, pageCache, readBytes } from '@concord/ops';
import { openBackend, type Ran } from '../backend/open-backend.ts';
import type { BackendName } from '../playground/backend-names.ts';

/** A picture to read, which comes back with its lines, and what on; a page that wants another backend ends this worker. Or the end of that. */
export type OcrRequest =
  | { readonly bitmap: ImageBitmap; readonly backend: BackendName | undefined; readonly models: string }
  | 'stop';

/** A message of the worker. */
export type OcrMessage =
  | ({ readonly kind: 'backend' } & Ran)
  | { readonly kind: 'loading' | 'reading'; readonly done: number; readonly total: number }
  | { readonly kind: 'lines'; readonly bitmap: ImageBitmap; readonly lines: readonly Line[]; readonly ms: number }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'fault'; readonly message: string };

const FILES = [
  'ch_PP-OCRv4_det_infer.onnx',
  'ch_ppocr_mobile_v2.0_cls_infer.onnx',
  'ch_PP-OCRv4_rec_infer.onnx',
  'ppocr_keys_v1.txt',
];

const scope = globalThis as unknown as {
  postMessage(message: OcrMessage, transfer?: readonly Transferable[]): void;
  addEventListener(type: 'message', listener: (event: { readonly data: OcrRequest }) => void): void;
};

let opened: { readonly backend: ComputeBackend; readonly ocr: Ocr } | undefined;
let stopping = new AbortController();

scope.addEventListener('message', ({ data }) => {
  if (data === 'stop') return stopping.abort(new Error('stopped'));
  stopping = new AbortController();
  void answer(data, stopping.signal);
});

async function answer(request: Exclude<OcrRequest, 'stop'>, signal: AbortSignal): Promise<void> {
  try {
    const picture = pixelsOf(request.bitmap);
    opened ??= await open(request, signal);
    const start = performance.now();
    const onProgress = (done: number, total: number): void => scope.postMessage({ kind: 'reading', done, total });
    const lines = await opened.ocr.read(picture, { signal, onProgress });
    const { bitmap } = request;
    scope.postMessage({ kind: 'lines', bitmap, lines, ms: performance.now() - start }, [bitmap]);
  } catch (error) {
    if (signal.aborted) return scope.postMessage({ kind: 'stopped' });
    const { message, hint } = error as Error & { readonly hint?: string };
    scope.postMessage({ kind: 'fault', message: hint === undefined ? message : `${message}; ${hint}` });
    // A device that is lost is of no more use.
    const gone = opened;
    opened = undefined;
    await gone?.backend.dispose().catch(() => undefined);
  }
}

function pixelsOf(bitmap: ImageBitmap): ImageData {
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext('2d');
  if (context === null) throw new Error('this browser has no 2D canvas in workers');
  context.drawImage(bitmap, 0, 0);
  return context.getImageData(0, 0, width, height);
}

async function open(
  { backend: wanted, models }: Exclude<OcrRequest, 'stop'>,
  signal: AbortSignal,
): Promise<typeof opened> {
  const cache = 'caches' in globalThis ? pageCache() : undefined;
  const files = await Promise.all(FILES.map((name) => byteSource(`${models}/${name}`, cache).open(signal)));
  const total = files.reduce((sum, { size = 0 }) => sum + size, 0);
  let done = 0;
  const counted = (file: OpenBytes): OpenBytes => ({
    size: file.size,
    close: () => file.close(),
    async *pieces(from, to) {
      for await (const piece of file.pieces(from, to)) {
        signal.throwIfAborted();
        done += piece.length;
        scope.postMessage({ kind: 'loading', done, total });
        yield piece;
      }
    },
  });
  const bytes: Uint8Array[] = [];
  for (const file of files) {
    try {
      bytes.push(await readBytes(counted(file), 0, Infinity));
    } finally {
      await file.close();
    }
  }
  const [detection, orientation, recognition, characters] = bytes as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const { backend, ...ran } = await openBackend(wanted, [{ op: 'gemm' }, { op: 'conv2dForward' }, { op: 'run' }]);
  try {
    scope.postMessage({ kind: 'backend', ...ran });
    const text = new TextDecoder().decode(characters);
    return { backend, ocr: await Ocr.open(backend, { detection, orientation, recognition, characters: text }) };
  } catch (error) {
    await backend.dispose();
    throw error;
  }
}

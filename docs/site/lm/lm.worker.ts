import type { ComputeBackend } from '@concord/backend-core';
import {
  Batch,
  chatText,
  type Decoder,
  type ModelFiles,
  openFile,
  openFolder,
  textOf,
  tokensOf,
} from '@concord/example-lm';
import { byteSource, pageCache } from '@concord/ops';
import { openBackend } from '../backend/open-backend.ts';
import type { LmMessage, LmRequest, ModelRequest, PromptRequest } from './messages.ts';

const scope = globalThis as unknown as {
  postMessage(message: LmMessage): void;
  addEventListener(type: 'message', listener: (event: { readonly data: LmRequest }) => void): void;
};

/** The model that is open; a page that wants another one ends this worker. */
let opened: { readonly backend: ComputeBackend; readonly files: ModelFiles; readonly model: Decoder } | undefined;
let stopping = new AbortController();

scope.addEventListener('message', ({ data }) => {
  if (data === 'stop') return stopping.abort(new Error('stopped'));
  stopping = new AbortController();
  void answer(data, stopping.signal);
});

async function answer({ model, text }: Exclude<LmRequest, 'stop'>, signal: AbortSignal): Promise<void> {
  try {
    opened ??= await open(model, signal);
    await write(opened, text, signal);
    scope.postMessage({ kind: 'end', wasStopped: false });
  } catch (error) {
    if (signal.aborted) return scope.postMessage({ kind: 'end', wasStopped: true });
    const { message, hint } = error as Error & { readonly hint?: string };
    scope.postMessage({ kind: 'fault', message: hint === undefined ? message : `${message}; ${hint}` });
    // A device that is lost is of no more use; what else there was comes from the cache.
    const gone = opened;
    opened = undefined;
    await gone?.backend.dispose().catch(() => undefined);
  }
}

async function open(
  { from, backend: wanted, quantize, keep }: ModelRequest,
  signal: AbortSignal,
): Promise<typeof opened> {
  const files = await openFiles(from, keep);
  signal.throwIfAborted();
  const { backend, ...ran } = await openBackend(wanted, [{ op: 'gemm' }, { op: 'attention' }, { op: 'run' }]);
  scope.postMessage({ kind: 'backend', ...ran });
  try {
    const onProgress = (done: number, total: number): void => scope.postMessage({ kind: 'loading', done, total });
    const model = await files.load(backend, { dtype: 'f32', quantize, signal, onProgress });
    return { backend, files, model };
  } catch (error) {
    await backend.dispose();
    throw error;
  }
}

function openFiles(from: ModelRequest['from'], keep: boolean): Promise<ModelFiles> {
  if (typeof from === 'string') {
    const cache = keep && 'caches' in globalThis ? pageCache() : undefined;
    if (/\.gguf([?#]|$)/i.test(from)) return openFile(byteSource(from, cache));
    return openFolder((file) => byteSource(`${from.replace(/\/$/, '')}/${file}`, cache));
  }
  const [first] = from;
  if (first !== undefined && /\.gguf$/i.test(first.name)) return openFile(byteSource(first));
  return openFolder((name) => {
    const file = from.find((each) => each.name === name);
    const absent = { name, open: () => Promise.reject(new Error(`${name} was not dropped`)) };
    if (file === undefined) return absent;
    return { ...byteSource(file), beside: (other) => byteSource(from.find((each) => each.name === other) as File) };
  });
}

async function write(
  { files, model }: NonNullable<typeof opened>,
  { prompt: given, chat, ...text }: PromptRequest,
  signal: AbortSignal,
): Promise<void> {
  const prompt = tokensOf(files, chat ? chatText(files, [{ role: 'user', content: given }]) : given);
  const most = model.config.context;
  if (prompt.length === 0) throw new Error('the prompt is empty');
  if (prompt.length >= most) throw new Error(`the prompt has ${prompt.length} tokens, the model takes ${most - 1}`);
  await using batch = new Batch(model, { context: Math.min(most, prompt.length + text.tokens) });
  const making = { tokens: 0, isStopped: false, first: 0 };
  for await (const piece of textOf(batch, files.tokenizer, { ...text, prompt, signal }, making)) {
    const { tokens, first } = making;
    const rate = tokens > 1 ? (1000 * (tokens - 1)) / (performance.now() - first) : undefined;
    scope.postMessage({ kind: 'text', piece, tokens, rate });
  }
}

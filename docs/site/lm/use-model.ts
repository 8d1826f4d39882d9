import { computed, type ComputedRef, onBeforeUnmount, ref, type Ref, type ShallowRef, shallowRef } from 'vue';
import type { LmMessage, LmRequest, ModelRequest, PromptRequest } from './messages.ts';

type Ran = Extract<LmMessage, { kind: 'backend' }>;

/** A language model in a worker, and the text that it writes. */
export interface Model {
  readonly status: Ref<string>;
  readonly fault: Ref<string>;
  readonly written: Ref<string>;
  readonly rate: Ref<string>;
  readonly loading: ShallowRef<{ readonly done: number; readonly total: number } | undefined>;
  /** The backend that it runs on, and those that were refused. */
  readonly ran: ShallowRef<Ran | undefined>;
  readonly device: ComputedRef<string>;
  readonly isBusy: Ref<boolean>;
  write(asked: ModelRequest, text: PromptRequest): void;
  stop(): void;
}

/** The small model of this site. */
export const ownModel = (): string => new URL(`${import.meta.env.BASE_URL}lm-model`, location.href).href;

/** The state of a model for a component, whose worker ends with it. */
export function useModel(): Model {
  const [status, fault, written, rate] = [ref('Nothing is loaded yet.'), ref(''), ref(''), ref('')];
  const loading = shallowRef<{ readonly done: number; readonly total: number }>();
  const ran = shallowRef<Ran>();
  const device = computed(() => ran.value?.attempts.find(({ outcome }) => outcome === 'selected')?.device?.name ?? '');
  const isBusy = ref(false);
  let worker: Worker | undefined;
  /** What the worker has open. */
  let model: ModelRequest | undefined;
  onBeforeUnmount(() => worker?.terminate());

  function start(asked: ModelRequest): Worker {
    worker?.terminate();
    [model, ran.value, loading.value] = [asked, undefined, undefined];
    const started = new Worker(new URL('./lm.worker.ts', import.meta.url), { type: 'module' });
    started.addEventListener('message', ({ data }: MessageEvent<LmMessage>) => show(data));
    started.addEventListener('error', ({ message }) => {
      show({ kind: 'fault', message: message || 'the worker of this page could not be loaded' });
      model = undefined;
    });
    return started;
  }

  function show(message: LmMessage): void {
    if (message.kind === 'backend') ran.value = message;
    else if (message.kind === 'loading') [loading.value, status.value] = [message, 'Loading the weights'];
    else if (message.kind === 'text') {
      written.value += message.piece;
      rate.value =
        `${message.tokens} tokens` + (message.rate === undefined ? '' : `, ${message.rate.toFixed(1)} a second`);
      status.value = 'Writing';
    } else {
      isBusy.value = false;
      if (message.kind === 'fault') [fault.value, status.value] = [message.message, 'That did not work'];
      else status.value = message.wasStopped ? 'Stopped' : 'Done';
    }
  }

  function write(asked: ModelRequest, text: PromptRequest): void {
    if (isBusy.value) return;
    const open = model;
    const isOpen =
      open !== undefined && Object.entries(asked).every(([name, value]) => Reflect.get(open, name) === value);
    if (!isOpen || worker === undefined) worker = start(asked);
    [isBusy.value, fault.value, written.value, rate.value] = [true, '', text.prompt, ''];
    status.value = isOpen ? 'Reading the prompt' : 'Opening the model';
    worker.postMessage({ model: asked, text } satisfies LmRequest);
  }

  const stop = (): void => worker?.postMessage('stop' satisfies LmRequest);
  return { status, fault, written, rate, loading, ran, device, isBusy, write, stop };
}

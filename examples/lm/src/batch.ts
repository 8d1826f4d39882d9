import { offsetPtr } from '@concord/backend-core';
import { empty, full, record, type Recorded, slice, tensor, type Tensor, tidy } from '@concord/ops';
import type { Cache, Decoder } from './decoder.ts';
import { type Choice, numbersOf, sample, type Sampling } from './sample.ts';

/** A text to be continued. */
export interface TextRequest extends Sampling {
  readonly prompt: readonly number[];
  /** The maximum number of tokens to generate. */
  readonly tokens: number;
  readonly signal: AbortSignal;
}

/** Options of {@link Batch}. */
export interface BatchOptions {
  /** Texts at the same time. Default 1. */
  readonly size?: number;
  /** Tokens of each at most, its prompt included. Default: all that the model knows. */
  readonly context?: number;
  /** Choose among this number of the most likely tokens; undefined: all. */
  readonly topK?: number | undefined;
}

/** A text that is under way. */
interface Row {
  readonly request: TextRequest;
  made: number;
  isDone: boolean;
  readonly queue: (number | Error | undefined)[];
  wake: () => void;
}

/** Steps whose tokens the host has not read yet: the device works on them while the host delivers those before. */
const AHEAD = 3;
/** Milliseconds after which others have their turn. */
const TURN_MS = 30;

/**
 * Texts that are continued together: each step makes one token of all that are under way, and a text begins whenever a place is free. Each
 * has its own length in the cache, so that one recording is the step of all.
 */
export class Batch implements AsyncDisposable {
  readonly #model: Decoder;
  readonly #context: number;
  readonly #topK: number | undefined;
  readonly #rows: (Row | undefined)[];
  readonly #waiting: Row[] = [];
  /** Places whose text has ended since the last step. */
  readonly #left: number[] = [];
  readonly #cache: Cache;
  readonly #ids: Tensor;
  readonly #choice: Choice;
  readonly #steps = new Map<boolean, Recorded<unknown>>();
  #running: Promise<void> | undefined;

  constructor(model: Decoder, { size = 1, context = model.config.context, topK }: BatchOptions = {}) {
    const { backend } = model;
    this.#model = model;
    this.#context = context;
    this.#topK = topK;
    this.#rows = Array.from({ length: size });
    this.#cache = model.cache(size, context);
    this.#ids = empty(backend, [size, 1], { dtype: 'u32' });
    const floats = (): Tensor => full(backend, [size], 1);
    this.#choice = {
      ...{ coldness: floats(), noise: floats(), share: floats() },
      seed: empty(backend, [size], { dtype: 'u32' }),
    };
  }

  /** Texts that wait for a place. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Places without a text, which those that wait take at the next step. */
  get free(): number {
    return this.#rows.filter((row) => row === undefined).length;
  }

  /** The tokens that follow a prompt, as they come. A prompt is shorter than the context. */
  async *generate(request: TextRequest): AsyncGenerator<number, void, undefined> {
    const row: Row = { request, made: 0, isDone: false, queue: [], wake: () => undefined };
    const abort = (): void => this.#finish(row, request.signal.reason as Error);
    request.signal.addEventListener('abort', abort);
    this.#waiting.push(row);
    this.#running ??= this.#work();
    try {
      request.signal.throwIfAborted();
      while (true) {
        while (row.queue.length === 0) await new Promise<void>((resolve) => (row.wake = resolve));
        const next = row.queue.shift();
        if (next === undefined) return;
        if (typeof next !== 'number') throw next;
        yield next;
      }
    } finally {
      request.signal.removeEventListener('abort', abort);
      this.#finish(row);
    }
  }

  get #hasWork(): boolean {
    return this.#waiting.length > 0 || this.#rows.some((row) => row !== undefined);
  }

  async #work(): Promise<void> {
    // A text may come while the last reads of the others are awaited.
    while (this.#hasWork) await this.#run();
    this.#running = undefined;
  }

  async #run(): Promise<void> {
    const reads: Promise<void>[] = [];
    let yielded = performance.now();
    try {
      while (this.#hasWork) {
        // A device that answers without a wait would let nothing else of this thread have its turn: neither clients nor a stop.
        if (performance.now() - yielded > TURN_MS) {
          await new Promise((resolve) => setTimeout(resolve));
          yielded = performance.now();
        }
        // Where a lost device throws, the texts are told.
        for (const place of this.#left.splice(0)) this.#empty(place);
        this.#admit();
        const riders = [...this.#rows];
        const [ids, last] = [this.#ids.toArray(), reads.at(-1)];
        const read = Promise.all([ids, last]).then(([tokens]) => this.#deliver(riders, tokens));
        read.catch(() => undefined);
        reads.push(read);
        this.#step();
        if (reads.length >= AHEAD) await reads.shift();
      }
    } catch (error) {
      for (const row of [...this.#rows, ...this.#waiting]) if (row !== undefined) this.#finish(row, error as Error);
    } finally {
      await Promise.allSettled(reads);
    }
  }

  /** Reads the prompts of texts that wait into the places that are free. */
  #admit(): void {
    for (const [place, taken] of this.#rows.entries()) {
      if (taken !== undefined) continue;
      const row = this.#waiting.shift();
      if (row === undefined) return;
      this.#rows[place] = row;
      const { backend } = this.#model;
      const numbers = numbersOf(row.request);
      for (const name of ['coldness', 'noise', 'share'] as const) {
        backend.copyHtod(offsetPtr(this.#choice[name].ptr, 4 * place), Float32Array.of(numbers[name]));
      }
      backend.copyHtod(offsetPtr(this.#choice.seed.ptr, 4 * place), Uint32Array.of(numbers.seed));
      this.#empty(place);
      tidy(() => {
        const own = (of: Tensor): Tensor => slice(of, [[place, place + 1]]);
        const layers = this.#cache.layers.map(([keys, values]) => [own(keys), own(values)] as const);
        const { coldness, noise, share, seed } = this.#choice;
        const choice = { coldness: own(coldness), noise: own(noise), share: own(share), seed: own(seed) };
        const prompt = tensor(backend, Uint32Array.from(row.request.prompt), [1, row.request.prompt.length]);
        const lengths = own(this.#cache.lengths);
        const logits = this.#model.forward(prompt, { layers, lengths, [Symbol.dispose]: () => undefined });
        sample(logits, choice, lengths, own(this.#ids), { hasNucleus: numbers.share < 1, topK: this.#topK });
      });
    }
  }

  /** A place without a text attends to nothing. */
  #empty(place: number): void {
    this.#model.backend.copyHtod(offsetPtr(this.#cache.lengths.ptr, 4 * place), Uint32Array.of(0));
  }

  #step(): void {
    const hasNucleus = this.#rows.some((row) => row !== undefined && numbersOf(row.request).share < 1);
    const known = this.#steps.get(hasNucleus);
    if (known !== undefined) return known.replay();
    const work = (): void => {
      using logits = this.#model.forward(this.#ids, this.#cache);
      sample(logits, this.#choice, this.#cache.lengths, this.#ids, { hasNucleus, topK: this.#topK });
    };
    this.#steps.set(hasNucleus, record(this.#model.backend, work));
  }

  /** @param riders - the texts of the places when the tokens were made */
  #deliver(riders: readonly (Row | undefined)[], ids: ArrayLike<number>): void {
    for (const [place, row] of riders.entries()) {
      if (row === undefined || row.isDone) continue;
      const { prompt, tokens } = row.request;
      const token = ids[place] as number;
      const isEnd = this.#model.config.ends.includes(token);
      if (!isEnd) row.queue.push(token);
      row.made++;
      const isFull = row.made >= tokens || prompt.length + row.made >= this.#context;
      if (isEnd || isFull) this.#finish(row);
      else row.wake();
    }
  }

  #finish(row: Row, error?: Error): void {
    if (row.isDone) return;
    row.isDone = true;
    row.queue.push(error);
    const place = this.#rows.indexOf(row);
    if (place >= 0) {
      this.#rows[place] = undefined;
      this.#left.push(place);
    } else this.#waiting.splice(this.#waiting.indexOf(row), 1);
    row.wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const row of [...this.#rows, ...this.#waiting]) if (row !== undefined) this.#finish(row);
    await this.#running;
    for (const step of this.#steps.values()) step.dispose();
    this.#cache[Symbol.dispose]();
    for (const each of [this.#ids, ...Object.values<Tensor>({ ...this.#choice })]) each.dispose();
  }
}

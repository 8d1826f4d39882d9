import type { Tokenizer } from '@huggingface/tokenizers';
import type { Batch, TextRequest } from './batch.ts';

/** A text that is made, as far as it is. */
export interface Making {
  tokens: number;
  /** Ended by a text to stop before. */
  isStopped: boolean;
  /** When the first token came, by `performance.now()`. */
  first: number;
}

/** The text that follows a prompt, in the pieces that it comes in. */
export async function* textOf(
  batch: Batch,
  tokenizer: Tokenizer,
  { stop, ...request }: TextRequest & { readonly stop?: readonly string[] },
  making: Making,
): AsyncGenerator<string, void, undefined> {
  const text = new TokenText(tokenizer, stop);
  for await (const token of batch.generate(request)) {
    if (making.tokens++ === 0) making.first = performance.now();
    yield text.add(token);
    making.isStopped = text.isStopped;
    if (text.isStopped) return;
  }
  yield text.end();
}

/** Bytes of the longest character of UTF-8. */
const LONGEST = 4;

/** Tokens whose text is asked for together: what a token reads like may depend on those before it. */
const WINDOW = 8;

/**
 * The text of tokens that come one by one. A character may be several tokens: it is given when it is whole. What may be the beginning of
 * a text to stop before waits too.
 */
export class TokenText {
  readonly #tokenizer: Tokenizer;
  readonly #stops: readonly string[];
  /** Tokens whose text is given, for what follows, then those whose text waits. */
  #tokens: number[] = [];
  #given = 0;
  #waiting = '';
  #isStopped = false;

  constructor(tokenizer: Tokenizer, stops: readonly string[] = []) {
    this.#tokenizer = tokenizer;
    this.#stops = stops.filter((each) => each !== '');
  }

  /** True when a text to stop before has come. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The text that a token adds: nothing while its last character is not whole. */
  add(token: number): string {
    if (this.#isStopped) return '';
    this.#tokens.push(token);
    const text = this.#new();
    if (text.endsWith('\ufffd') && this.#tokens.length - this.#given < LONGEST) return '';
    this.#given = this.#tokens.length;
    if (this.#given > 2 * WINDOW) {
      this.#tokens = this.#tokens.slice(-WINDOW);
      this.#given = WINDOW;
    }
    return this.#untilStop(text);
  }

  /** The rest: what waited for more. */
  end(): string {
    if (this.#isStopped) return '';
    const rest = this.#waiting + (this.#tokens.length > this.#given ? this.#new() : '');
    this.#waiting = '';
    return rest;
  }

  #untilStop(text: string): string {
    const all = this.#waiting + text;
    const found = this.#stops.map((stop) => all.indexOf(stop)).filter((at) => at >= 0);
    if (found.length > 0) {
      this.#isStopped = true;
      this.#waiting = '';
      return all.slice(0, Math.min(...found));
    }
    const longest = Math.min(all.length, Math.max(0, ...this.#stops.map((stop) => stop.length - 1)));
    let kept = 0;
    for (let length = 1; length <= longest; length++) {
      if (this.#stops.some((stop) => stop.startsWith(all.slice(-length)))) kept = length;
    }
    this.#waiting = all.slice(all.length - kept);
    return all.slice(0, all.length - kept);
  }

  /** The text of the tokens that wait, after those before them. */
  #new(): string {
    const before = this.#decode(this.#tokens.slice(0, this.#given));
    return this.#decode(this.#tokens).slice(before.length);
  }

  #decode(tokens: readonly number[]): string {
    if (tokens.length === 0) return '';
    return this.#tokenizer.decode([...tokens], { clean_up_tokenization_spaces: false, skip_special_tokens: true });
  }
}

import type { Tokenizer } from '@huggingface/tokenizers';

/** Bytes of the longest character of UTF-8. */
const LONGEST = 4;

/** The text of tokens that come one by one. A character may be several tokens: it is given when it is whole. */
export class TokenText {
  readonly #tokenizer: Tokenizer;
  #waiting: number[] = [];

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  /** The text that a token adds: nothing while its last character is not whole. */
  add(token: number): string {
    this.#waiting.push(token);
    const text = this.#decode();
    if (text.endsWith('\ufffd') && this.#waiting.length < LONGEST) return '';
    this.#waiting = [];
    return text;
  }

  /** The rest of a character that never became whole. */
  end(): string {
    return this.#waiting.length === 0 ? '' : this.#decode();
  }

  #decode(): string {
    return this.#tokenizer.decode(this.#waiting, { clean_up_tokenization_spaces: false });
  }
}

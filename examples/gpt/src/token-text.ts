import type { Tokenizer } from '@huggingface/tokenizers';

/** The text of tokens that come one by one. A character may be several tokens: it is given when it is whole. */
export class TokenText {
  readonly #tokenizer: Tokenizer;
  readonly #ids: number[];
  readonly #prompt: string;
  #given: string;

  constructor(tokenizer: Tokenizer, prompt: readonly number[]) {
    this.#tokenizer = tokenizer;
    this.#ids = [...prompt];
    this.#prompt = this.#decode();
    this.#given = this.#prompt;
  }

  /** All text but the prompt. */
  get all(): string {
    return this.#decode().slice(this.#prompt.length);
  }

  /** What a token adds to the text: nothing while its last character is not whole. */
  add(token: number): string {
    this.#ids.push(token);
    const text = this.#decode();
    if (text.endsWith('\ufffd')) return '';
    const piece = text.slice(this.#given.length);
    this.#given = text;
    return piece;
  }

  #decode(): string {
    return this.#tokenizer.decode(this.#ids, { skip_special_tokens: true, clean_up_tokenization_spaces: false });
  }
}

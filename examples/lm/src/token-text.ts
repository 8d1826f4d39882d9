import type { Tokenizer } from '@huggingface/tokenizers';
import type { Batch, TextRequest } from './batch.ts';

/** Tokens of the longest character, whose bytes may come one by one. */
const LONGEST = 4;
/** Tokens whose text is asked for together: what a token reads like may depend on those before it. */
const WINDOW = 8;

/** A text that is made, as far as it is. */
export interface Making {
  tokens: number;
  /** Ended by a text to stop before. */
  isStopped: boolean;
  /** When the first token came, by `performance.now()`. */
  first: number;
}

/**
 * The text that follows a prompt, in the pieces that it comes in. A character may be several tokens: it is given when it is whole.
 * What may be the beginning of a text to stop before waits too.
 */
export async function* textOf(
  batch: Batch,
  tokenizer: Tokenizer,
  { stop = [], ...request }: TextRequest & { readonly stop?: readonly string[] },
  making: Making,
): AsyncGenerator<string, void, undefined> {
  const stops = stop.filter((each) => each !== '');
  const options = { clean_up_tokenization_spaces: false, skip_special_tokens: true };
  const decode = (ids: number[]): string => (ids.length === 0 ? '' : tokenizer.decode(ids, options));
  /** Those whose text is given, for what follows, then those whose text waits. */
  let tokens: number[] = [];
  let [given, waiting] = [0, ''];
  const fresh = (): string => decode(tokens).slice(decode(tokens.slice(0, given)).length);
  for await (const token of batch.generate(request)) {
    if (making.tokens++ === 0) making.first = performance.now();
    tokens.push(token);
    const text = fresh();
    if (text.endsWith('\ufffd') && tokens.length - given < LONGEST) continue;
    if (tokens.length > 2 * WINDOW) tokens = tokens.slice(-WINDOW);
    given = tokens.length;
    const all = waiting + text;
    const found = stops.map((each) => all.indexOf(each)).filter((at) => at >= 0);
    making.isStopped = found.length > 0;
    if (making.isStopped) return yield all.slice(0, Math.min(...found));
    let from = Math.max(0, all.length - Math.max(0, ...stops.map(({ length }) => length - 1)));
    while (from < all.length && !stops.some((each) => each.startsWith(all.slice(from)))) from++;
    waiting = all.slice(from);
    yield all.slice(0, from);
  }
  yield waiting + fresh();
}

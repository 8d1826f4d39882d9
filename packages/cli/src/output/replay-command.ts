import { shellQuote } from './shell-quote.ts';

/**
 * The command line that runs one case.
 *
 * @param backend - the backend as it is typed, with the options that say where it is from
 */
export function replayCommand(id: string, backend: string, forced: readonly string[] = []): string {
  const variables = forced.length === 0 ? '' : `CONCORD_VARIANT=${shellQuote(forced.join(','))} `;
  return `${variables}concord conformance --backend ${backend} --filter ${shellQuote(id)}`;
}

/** Where in a module or in a text something is wrong; lines and columns count from 1, words from 0. */
export type SpirvTextPlace = { readonly word: number } | { readonly line: number; readonly column: number };

/** A module that cannot be read, or a text that is no module. The message starts with the place. */
export class SpirvTextError extends Error {
  override readonly name = 'SpirvTextError';
  readonly place: SpirvTextPlace;

  constructor(message: string, place: SpirvTextPlace) {
    super('word' in place ? `word ${place.word}: ${message}` : `${place.line}:${place.column}: ${message}`);
    this.place = place;
  }
}

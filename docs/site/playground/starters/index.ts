/* oxlint-disable import/default -- Vite gives the text of a file */
import brightness from './brightness.ts?raw';
import edges from './edges.ts?raw';
import layerNorm from './layer-norm.ts?raw';
import softmax from './softmax.ts?raw';

/** A program to begin with. */
export interface Starter {
  readonly name: string;
  readonly source: string;
}

/** The programs that the page offers; it opens with the first one. */
export const STARTERS: readonly Starter[] = [
  { name: 'Softmax', source: softmax },
  { name: 'Brightness of a picture', source: brightness },
  { name: 'LayerNorm', source: layerNorm },
  { name: 'Edges of a picture', source: edges },
];

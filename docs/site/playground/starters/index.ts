/* oxlint-disable import/default -- Vite gives the text of a file */
import attentionMap from './attention-map.ts?raw';
import blur from './blur.ts?raw';
import brightness from './brightness.ts?raw';
import edges from './edges.ts?raw';
import gameOfLife from './game-of-life.ts?raw';
import histogram from './histogram.ts?raw';
import layerNorm from './layer-norm.ts?raw';
import learnPicture from './learn-picture.ts?raw';
import mandelbrot from './mandelbrot.ts?raw';
import softmax from './softmax.ts?raw';
import spots from './spots.ts?raw';
import tenLines from './ten-lines.ts?raw';

/** A program to begin with. */
export interface Starter {
  readonly name: string;
  readonly source: string;
}

/** The programs that the page offers; it opens with the first one. */
export const STARTERS: readonly Starter[] = [
  { name: 'Softmax: a kernel and its oracle', source: softmax },
  { name: 'Ten lines with tensors', source: tenLines },
  { name: 'Mandelbrot set, with a zoom', source: mandelbrot },
  { name: 'Blur of a picture, with a slider', source: blur },
  { name: 'Histogram of a picture', source: histogram },
  { name: 'Edges of a picture', source: edges },
  { name: 'Brightness of a picture', source: brightness },
  { name: 'Attention map of a sentence', source: attentionMap },
  { name: 'Game of life', source: gameOfLife },
  { name: 'Spots and stripes', source: spots },
  { name: 'A network learns a picture', source: learnPicture },
  { name: 'LayerNorm', source: layerNorm },
];

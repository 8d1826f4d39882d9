/// <reference lib="esnext.disposable" preserve="true" />
import type { ComputeBackend, WaitOptions } from '@concord/backend-core';
import { loadOnnx, type OnnxModel, type OnnxSource } from '@concord/onnx';
import type { Tensor } from '@concord/ops';
import { type Box, boxesOf, cornersOf } from './boxes.ts';
import { type Normalization, type Part, type Picture, planesOf, type Point } from './picture.ts';

/** PP-OCR's models: where text is, whether a line stands on its head, and what it says. */
export interface OcrFiles {
  readonly detection: OnnxSource;
  readonly orientation: OnnxSource;
  readonly recognition: OnnxSource;
  /** The characters that recognition knows, one a line. */
  readonly characters: string;
}

/** A line of text in a picture. */
export interface Line {
  readonly text: string;
  /** Mean of the characters' probabilities. */
  readonly confidence: number;
  /** Its corners in pixels of the picture, from where the text begins, above it, clockwise as it is read. */
  readonly box: readonly Point[];
}

/** Options of {@link Ocr.read}. */
export interface ReadOptions {
  readonly signal?: AbortSignal;
  /** Called after the lines are found, and after each is read. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** As PP-OCRv4's models were trained. */
const PHOTO: Normalization = { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };
const TEXT: Normalization = { mean: [0.5, 0.5, 0.5], deviation: [0.5, 0.5, 0.5] };

/** Pixels of a picture's longer side that detection sees, in multiples of `STEP`. */
const [LONGEST, STEP] = [960, 32];
/** Pixels of a line's height, and steps and bounds of its width: each width is a signature of the model. */
const [HEIGHT, WIDTH_STEP, MIN_WIDTH, MAX_WIDTH] = [48, 160, 320, 3200];
const ORIENTATION_WIDTH = 192;
/** How sure a line is turned, and one is given. */
const [TURNED, READ] = [0.9, 0.5];

/** Reads the text in pictures. */
export class Ocr implements Disposable {
  readonly #models: readonly [detection: OnnxModel, orientation: OnnxModel, recognition: OnnxModel];
  readonly #characters: readonly string[];

  private constructor(models: readonly [OnnxModel, OnnxModel, OnnxModel], characters: string) {
    this.#models = models;
    this.#characters = ['', ...characters.trimEnd().split(/\r?\n/), ' '];
  }

  /** @throws {BackendError} as `loadOnnx`; what was opened until then goes with the backend */
  static async open(backend: ComputeBackend, files: OcrFiles): Promise<Ocr> {
    const load = (file: OnnxSource): Promise<OnnxModel> => loadOnnx(backend, file);
    const models = [await load(files.detection), await load(files.orientation), await load(files.recognition)] as const;
    return new Ocr(models, files.characters);
  }

  /** The lines of text in a picture, as they are read. */
  async read(picture: Picture, { signal, onProgress }: ReadOptions = {}): Promise<Line[]> {
    const boxes = await this.#detect(picture, signal);
    const lines: Line[] = [];
    for (const [i, box] of boxes.entries()) {
      onProgress?.(i, boxes.length);
      signal?.throwIfAborted();
      const upright = (await this.#isUpsideDown(picture, box, signal)) ? rotatedBy180(box) : box;
      const line = await this.#recognize(picture, upright, signal);
      if (line.text !== '' && line.confidence >= READ) lines.push({ ...line, box: cornersOf(upright) });
    }
    onProgress?.(boxes.length, boxes.length);
    return lines;
  }

  async #detect(picture: Picture, signal?: AbortSignal): Promise<Box[]> {
    const { width, height } = picture;
    const scale = Math.min(1, LONGEST / Math.max(width, height));
    // The model takes multiples of a step: what is beyond the picture is as its edge.
    const size = (side: number): number => STEP * Math.ceil((scale * side) / STEP);
    const [columns, rows] = [size(width), size(height)];
    const whole: Part = { corner: [0, 0], across: [columns / scale, 0], down: [0, rows / scale] };
    const planes = planesOf(picture, whole, [columns, rows, columns], PHOTO);
    const { data } = await run(this.#models[0], planes, [rows, columns], signal);
    const unscaled = ([x, y]: Point): Point => [x / scale, y / scale];
    return boxesOf(data, columns, rows).map(({ middle, half, along }) => {
      return { middle: unscaled(middle), half: unscaled(half), along };
    });
  }

  async #isUpsideDown(picture: Picture, box: Box, signal?: AbortSignal): Promise<boolean> {
    const columns = Math.min(ORIENTATION_WIDTH, Math.ceil((HEIGHT * box.half[0]) / box.half[1]));
    const planes = planesOf(picture, partOf(box), [columns, HEIGHT, ORIENTATION_WIDTH], TEXT);
    const { data } = await run(this.#models[1], planes, [HEIGHT, ORIENTATION_WIDTH], signal);
    return (data[1] as number) > TURNED;
  }

  async #recognize(picture: Picture, box: Box, signal?: AbortSignal): Promise<Omit<Line, 'box'>> {
    const columns = Math.min(MAX_WIDTH, Math.ceil((HEIGHT * box.half[0]) / box.half[1]));
    const width = Math.max(MIN_WIDTH, WIDTH_STEP * Math.ceil(columns / WIDTH_STEP));
    const planes = planesOf(picture, partOf(box), [columns, HEIGHT, width], TEXT);
    const { data, shape } = await run(this.#models[2], planes, [HEIGHT, width], signal);
    const [, steps = 0, classes = 0] = shape;
    let [text, sum, count, last] = ['', 0, 0, 0];
    for (let step = 0; step < steps; step++) {
      const row = data.subarray(step * classes, (step + 1) * classes);
      const best = row.reduce((most, value, i) => (value > (row[most] as number) ? i : most), 0);
      // A character is repeated as long as it lasts; the first class stands for none.
      if (best !== 0 && best !== last) {
        text += this.#characters[best] ?? '';
        sum += row[best] as number;
        count++;
      }
      last = best;
    }
    return { text: text.trim(), confidence: count === 0 ? 0 : sum / count };
  }

  [Symbol.dispose](): void {
    for (const model of this.#models) model.dispose();
  }
}

async function run(
  model: OnnxModel,
  data: Float32Array,
  [height, width]: readonly [height: number, width: number],
  signal: AbortSignal | undefined,
): Promise<{ data: Float32Array; shape: readonly number[] }> {
  const [input, output] = [model.inputs[0]?.name as string, model.outputs[0]?.name as string];
  const results = await model.run({ [input]: { type: 'float32', dims: [1, 3, height, width], data } });
  using result = results[output] as Tensor;
  // A device in software may take minutes; the signal ends the wait.
  const wait: WaitOptions = { timeoutMs: Infinity, ...(signal && { signal }) };
  return { data: (await result.toArray(wait)) as Float32Array, shape: result.shape };
}

function rotatedBy180({ along, ...box }: Box): Box {
  return { ...box, along: [-along[0], -along[1]] };
}

function partOf(box: Box): Part {
  const [first, second, , last] = cornersOf(box) as [Point, Point, Point, Point];
  return {
    corner: first,
    across: [second[0] - first[0], second[1] - first[1]],
    down: [last[0] - first[0], last[1] - first[1]],
  };
}
